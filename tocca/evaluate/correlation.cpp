#include "tocca/evaluate/correlation.h"

#include "tocca/evaluate/metrics.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"

namespace tocca {
namespace {

Matrix<double> product(ConstMatrixRef<double> x, ConstMatrixRef<double> weights) {
  Matrix<double> z(x.rows(), weights.cols());
  multiply<double>(x, weights, z);
  return z;
}

}  // namespace

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
