/// The singular value decomposition, in float64.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// X = left · diag(values) · right_t, with r = min(n, d) components, zero singular values included.
struct ThinSvd {
  Matrix<double> left;     ///< (n × r), orthonormal columns
  Vector<double> values;   ///< (r) descending, ≥ 0
  Matrix<double> right_t;  ///< (r × d), orthonormal rows
};

/// Divide and conquer after a QR factorisation where one side is much longer: about 6 max(n, d) min(n, d)² operations,
/// and no max × max matrix. Throws Error if `x` is not finite or LAPACK does not converge.
ThinSvd thin_svd(ConstMatrixRef<double> x);

}  // namespace tocca
