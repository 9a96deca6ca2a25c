/// Sums over the rows of a batch, one for each column. Long batches are summed in blocks of rows whose sums are added
/// in order, so that the rounding error of float grows with the number of blocks and not of rows.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// sums_j ← Σᵢ x_ij, x (m × d).
template <class S>
void column_sums(ConstMatrixRef<S> x, RowRef<S> sums);

}  // namespace tocca
