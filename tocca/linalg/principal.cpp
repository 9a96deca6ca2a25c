#include "tocca/linalg/principal.h"

#include <algorithm>

#include "tocca/linalg/blas.h"
#include "tocca/linalg/svd.h"
#include "tocca/linalg/symmetric.h"

namespace tocca::detail {

PrincipalAxes principal_axes(ConstMatrixRef<double> centred, double divisor) {
  if (centred.rows() <= centred.cols()) {
    ThinSvd svd = thin_svd(centred);
    return {svd.values.array().square() / divisor, std::move(svd.right_t)};
  }
  Matrix<double> covariance(centred.cols(), centred.cols());
  multiply_at_a<double>(centred, covariance, 1 / divisor);
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  return {eigen.values.reverse().cwiseMax(0), eigen.vectors.rowwise().reverse().transpose()};
}

Index count_above(const Vector<double>& variances, double tolerance) {
  if (variances.size() == 0) return 0;
  const double bound = tolerance * variances(0);
  return (variances.array() > std::max(bound, 0.0)).count();
}

}  // namespace tocca::detail
