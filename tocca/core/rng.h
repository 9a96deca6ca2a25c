/// A counter-based random generator that is a value: the same seed and names give the same numbers, whatever
/// else was drawn before, in whatever thread.
///
/// Philox-4x32-10 (J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// The Philox-4x32-10 bijection: 128 bits of counter and 64 bits of key to 128 random bits.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Example:
///     Rng rng(7);
///     Rng weights = rng.split("weights");       // independent of every other name
///     double u = weights.uniform();             // in [0, 1)
class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0) : key_(seed) {}

  /// An independent generator for a purpose, optionally numbered (an epoch, a layer, a fold). Does not advance this
  /// one.
  [[nodiscard]] Rng split(std::string_view name, std::uint64_t number = 0) const;

  /// 32 random bits.
  std::uint32_t bits();
  /// Uniform in [0, 1), 53 random bits.
  double uniform();
  /// Standard normal (Box-Muller).
  double normal();
  /// Uniform in {0, ..., n − 1}, without modulo bias. n ≥ 1.
  std::uint64_t below(std::uint64_t n);
  /// The numbers 0 ... n − 1 in random order (Fisher-Yates).
  std::vector<Index> permutation(Index n);
  /// Shuffles in place.
  void shuffle(std::vector<Index>& items);

  /// The seed of this stream, for code that wants to draw blocks with `philox` itself.
  [[nodiscard]] std::uint64_t key() const { return key_; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int left_ = 0;
};

}  // namespace tocca
