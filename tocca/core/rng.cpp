#include "tocca/core/rng.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace tocca {
namespace {

// A strong 64-bit mixer (the finaliser of SplitMix64, G. Steele, D. Lea, C. Flood, 2014) turns names into keys.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMul0 = 0xD2511F53;
  constexpr std::uint64_t kMul1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMul0 * x[0];
    const std::uint64_t p1 = kMul1 * x[2];
    x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return x;
}

Rng Rng::split(std::string_view name, std::uint64_t number) const {
  std::uint64_t key = mix(key_);
  for (const char c : name) key = mix(key ^ static_cast<unsigned char>(c));
  return Rng(mix(mix(key ^ name.size()) ^ number));
}

std::uint32_t Rng::bits() {
  if (left_ == 0) {
    block_ = philox({static_cast<std::uint32_t>(counter_), static_cast<std::uint32_t>(counter_ >> 32), 0, 0},
                    {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)});
    ++counter_;
    left_ = 4;
  }
  return block_[static_cast<std::size_t>(4 - left_--)];
}

double Rng::uniform() {
  const std::uint64_t high = bits();
  const std::uint64_t low = bits();
  return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t Rng::below(std::uint64_t n) {
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() - std::numeric_limits<std::uint64_t>::max() % n;
  for (;;) {
    const std::uint64_t high = bits();
    const std::uint64_t value = (high << 32) | bits();
    if (value < limit) return value % n;
  }
}

void Rng::shuffle(std::vector<Index>& items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
}

std::vector<Index> Rng::permutation(Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  shuffle(order);
  return order;
}

}  // namespace tocca
