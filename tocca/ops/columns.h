/// Sums over the rows of a batch, one for each column. Long batches are summed in blocks of 128 rows whose sums are
/// added in order, so that the rounding error of float grows with the number of blocks and not of rows.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

inline constexpr Index kRowsPerBlock = 128;

/// sums_j ← Σᵢ x_ij, x (m × d).
template <class S>
void column_sums(ConstMatrixRef<S> x, RowRef<S> sums);

/// mean_j and the biased variance (1/m) Σᵢ (x_ij − mean_j)², in two passes.
template <class S>
void column_moments(ConstMatrixRef<S> x, RowRef<S> mean, RowRef<S> variance);

}  // namespace tocca
