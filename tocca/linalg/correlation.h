/// Correlations of columns, and of two views' projections on samples that the projections were not fitted to.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/linalg/cca.h"

namespace tocca {

/// Pearson correlation of column j of a with column j of b, (k). 0 where a column is constant (up to rounding). Throws
/// InputError for shapes that differ, fewer than two rows, or entries that are not finite.
Vector<double> column_correlations(ConstMatrixRef<double> a, ConstMatrixRef<double> b);

/// Fits a linear CCA on train1 (n × d₁) and train2 (n × d₂) and returns the correlations of the canonical variates of
/// test1 (m × d₁) and test2 (m × d₂), in the order of the components (k). They are not sorted and may be negative: on
/// unseen samples nothing forces them otherwise. Throws InputError as `cca` does, and for shapes that do not agree.
Vector<double> held_out_correlations(ConstMatrixRef<double> train1, ConstMatrixRef<double> train2,
                                     ConstMatrixRef<double> test1, ConstMatrixRef<double> test2,
                                     const CcaOptions& options = {});

/// Their sum: the "sum correlation" after a final linear CCA of the projections. At most k.
double held_out_sum_correlation(ConstMatrixRef<double> train1, ConstMatrixRef<double> train2,
                                ConstMatrixRef<double> test1, ConstMatrixRef<double> test2,
                                const CcaOptions& options = {});

}  // namespace tocca
