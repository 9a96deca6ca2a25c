/// The principal axes of rows, by the shorter of their two sides.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca::detail {

/// XᵀX / divisor = axesᵀ · diag(variances) · axes.
struct PrincipalAxes {
  Vector<double> variances;  ///< (r) descending, ≥ 0, r = min(n, d)
  Matrix<double> axes;       ///< (r × d) orthonormal rows
};

/// Of rows X (n × d) taken as they are, so centred by the caller: through XᵀX when n > d, through the thin singular
/// value decomposition otherwise, so that no d × d matrix is formed when d ≥ n. The two ways give the same answer.
PrincipalAxes principal_axes(ConstMatrixRef<double> centred, double divisor);

/// How many of the descending variances are above tolerance · (the largest), and above 0.
Index count_above(const Vector<double>& variances, double tolerance);

}  // namespace tocca::detail
