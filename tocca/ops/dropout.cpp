#include "tocca/ops/dropout.h"

#include <algorithm>

#include "tocca/core/rng.h"

namespace tocca {

template <class S>
void dropout(MatrixRef<S> x, double rate, std::uint64_t key) {
  const auto threshold = static_cast<std::uint64_t>(rate * 0x1p32);
  const S gain = static_cast<S>(1 / (1 - rate));
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); j += 4) {
      const auto bits = philox({static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(i), 0, 0}, words);
      for (Index c = j; c < std::min(j + 4, x.cols()); ++c) {
        x(i, c) = bits[static_cast<std::size_t>(c - j)] < threshold ? S(0) : x(i, c) * gain;
      }
    }
  }
}

template void dropout<float>(MatrixRef<float>, double, std::uint64_t);
template void dropout<double>(MatrixRef<double>, double, std::uint64_t);

}  // namespace tocca
