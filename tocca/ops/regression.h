/// The squared error of a regression, with missing targets.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// Mean of (prediction − target)² over the entries whose target is present. predictions (m × t) are replaced by the
/// gradient of that mean: entries with target NaN add nothing and get a zero gradient; without any target the loss is
/// 0. targets (m × t).
template <class S>
double mean_squared_error(ConstMatrixRef<double> targets, MatrixRef<S> predictions);

}  // namespace tocca
