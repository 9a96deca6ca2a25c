/// Comparisons and inputs that the tests of many operations share.
#pragma once

#include <algorithm>
#include <cmath>

#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"

namespace tocca::testing {

/// Largest |a − b| / max(1, |b|) over all entries; infinity if the shapes differ or an entry is not finite.
inline double max_error(ConstMatrixRef<double> a, ConstMatrixRef<double> b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || !a.allFinite() || !b.allFinite()) return INFINITY;
  if (a.size() == 0) return 0;
  return ((a - b).array().abs() / b.array().abs().max(1.0)).maxCoeff();
}

/// Standard normal entries (rows × columns).
inline Matrix<double> random_matrix(Rng& rng, Index rows, Index columns) {
  return Matrix<double>::NullaryExpr(rows, columns, [&] { return rng.normal(); });
}

}  // namespace tocca::testing
