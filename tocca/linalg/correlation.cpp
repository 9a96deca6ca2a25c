#include "tocca/linalg/correlation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/covariance.h"

namespace tocca {
namespace {

Matrix<double> product(ConstMatrixRef<double> x, ConstMatrixRef<double> weights) {
  Matrix<double> z(x.rows(), weights.cols());
  multiply<double>(x, weights, z);
  return z;
}

/// Rounding leaves a constant column a deviation of about ε times its size.
bool is_constant(double deviation, double size) {
  return deviation <= 8 * std::numeric_limits<double>::epsilon() * size;
}

}  // namespace

Vector<double> column_correlations(ConstMatrixRef<double> a, ConstMatrixRef<double> b) {
  detail::require_shape("column_correlations", "b", b, a.rows(), a.cols());
  if (a.rows() < 2)
    throw InputError("column_correlations", fmt::format("rows: got {}, need at least 2; pass more samples", a.rows()));
  detail::require_finite("column_correlations", "a", a);
  detail::require_finite("column_correlations", "b", b);
  const Matrix<double> x = centre(a).rows, y = centre(b).rows;
  Vector<double> result = Vector<double>::Zero(a.cols());
  for (Index j = 0; j < a.cols(); ++j) {
    const double sx = x.col(j).norm(), sy = y.col(j).norm();
    if (is_constant(sx, a.col(j).norm()) || is_constant(sy, b.col(j).norm())) continue;
    result(j) = std::clamp((x.col(j) / sx).dot(y.col(j) / sy), -1.0, 1.0);
  }
  return result;
}

Vector<double> held_out_correlations(ConstMatrixRef<double> train1, ConstMatrixRef<double> train2,
                                     ConstMatrixRef<double> test1, ConstMatrixRef<double> test2,
                                     const CcaOptions& options) {
  detail::require_shape("held_out_correlations", "test view 1", test1, test1.rows(), train1.cols());
  detail::require_shape("held_out_correlations", "test view 2", test2, test1.rows(), train2.cols());
  const CcaSolution fitted = cca(train1, train2, options);
  return column_correlations(product(test1, fitted.weights1), product(test2, fitted.weights2));
}

double held_out_sum_correlation(ConstMatrixRef<double> train1, ConstMatrixRef<double> train2,
                                ConstMatrixRef<double> test1, ConstMatrixRef<double> test2, const CcaOptions& options) {
  return held_out_correlations(train1, train2, test1, test2, options).sum();
}

}  // namespace tocca
