#include "tocca/ops/dropout.h"

#include <algorithm>
#include <cassert>

#include "tocca/core/rng.h"

namespace tocca {

template <class S>
void dropout(PanelMap<S> x, double rate, std::uint64_t key) {
  dropout<S>(x, 0, x.cols(), rate, key);
}

template <class S>
void dropout(PanelMap<S> x, Index begin, Index columns, double rate, std::uint64_t key) {
  assert(begin % 4 == 0);  // random numbers come in fours
  const auto threshold = static_cast<std::uint64_t>(rate * 0x1p32);
  const S gain = static_cast<S>(1 / (1 - rate));
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  static_assert(kPanelColumns<S> % 4 == 0);
  x.each_panel(begin, begin + columns, x, [&](Index first, Index count) {
    auto part = x.part(first, count);
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index j = 0; j < count; j += 4) {
        const auto bits = philox({static_cast<std::uint32_t>(first + j), static_cast<std::uint32_t>(i), 0, 0}, words);
        for (Index c = j; c < std::min(j + 4, count); ++c) {
          part(i, c) = bits[static_cast<std::size_t>(c - j)] < threshold ? S(0) : part(i, c) * gain;
        }
      }
    }
  });
}

template void dropout<float>(PanelMap<float>, double, std::uint64_t);
template void dropout<double>(PanelMap<double>, double, std::uint64_t);
template void dropout<float>(PanelMap<float>, Index, Index, double, std::uint64_t);
template void dropout<double>(PanelMap<double>, Index, Index, double, std::uint64_t);

}  // namespace tocca
