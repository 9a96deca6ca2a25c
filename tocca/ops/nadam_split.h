/// The update of a weight matrix whose gradient is computed on the way, by the processor's matrix unit
/// (linalg/split_inl.h).
#pragma once

#include <cstdint>

#include "tocca/ops/nadam.h"

namespace tocca::detail {

/// Rows of weights that are worth a call: the update of the last ones of a call overlaps with nothing.
inline constexpr std::size_t kSplitWeightRows = 128;

/// Whether it is faster for products of this shape: where the unit pays (linalg/split_products.h), in small batches
/// (core/panels.h).
bool split_update_is_faster(const OuterProduct<float>& gradient);

/// What all rows of weights need of dy, split, and room for each thread.
struct SplitOuter {
  const std::uint32_t* dy;             ///< tiles of 16 columns, with a step for 32 samples each
  const std::uint32_t* dy_transposed;  ///< tiles of 16 samples, with a step for 32 columns each; null without dx
  float* gradients;
};
SplitOuter split_prepare(const OuterProduct<float>& gradient, Workspace& work, std::size_t threads);

/// nadam_update() of rows `first` to before `last`, in a thread with that number.
void split_update_rows(const NadamStep& step, const OuterProduct<float>& gradient, const NadamArrays<float>& arrays,
                       const SplitOuter& split, std::size_t first, std::size_t last, std::size_t thread);

}  // namespace tocca::detail
