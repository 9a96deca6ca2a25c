#include "tocca/data/image_shift.h"

#include <algorithm>

namespace tocca {

template <class S>
void shift_images(const Standardizer& standardizer, Index width, Index most, std::span<const Index> samples,
                  const Rng& rng, MatrixRef<S> rows) {
  const Index height = rows.cols() / width;
  const RowVector<double>& scale = standardizer.scale;
  // A column that is constant in training is not in the standardised row; its pixel is the constant.
  const RowVector<double> back = (scale.array() != 0).select(1 / scale.array(), 0.0);
  RowVector<double> pixels(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    Rng own = rng.split("shift", static_cast<std::uint64_t>(samples[static_cast<std::size_t>(i)]));
    const auto draw = [&] { return static_cast<Index>(own.below(static_cast<std::uint64_t>(2 * most + 1))) - most; };
    const Index down = draw(), right = draw();
    pixels = rows.row(i).template cast<double>().cwiseProduct(back) + standardizer.shift;
    for (Index y = 0; y < height; ++y) {
      const Index from_row = std::clamp<Index>(y - down, 0, height - 1) * width;
      for (Index x = 0; x < width; ++x) {
        const Index column = y * width + x;
        const double pixel = pixels(from_row + std::clamp<Index>(x - right, 0, width - 1));
        rows(i, column) = static_cast<S>((pixel - standardizer.shift(column)) * scale(column));
      }
    }
  }
}

template void shift_images<float>(const Standardizer&, Index, Index, std::span<const Index>, const Rng&,
                                  MatrixRef<float>);
template void shift_images<double>(const Standardizer&, Index, Index, std::span<const Index>, const Rng&,
                                   MatrixRef<double>);

}  // namespace tocca
