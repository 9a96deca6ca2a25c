#include "tocca/ops/trace_norm.h"

#include "tocca/linalg/blas.h"
#include "tocca/linalg/svd.h"

namespace tocca {
namespace {

/// −½ A D Aᵀ for A = R U (d × r), the gradient of ‖T‖_tr with respect to one view's covariance.
Matrix<double> within(const Matrix<double>& rotated, const Vector<double>& values) {
  const Matrix<double> half = (rotated * values.cwiseSqrt().asDiagonal()).transpose();
  Matrix<double> gradient(rotated.rows(), rotated.rows());
  multiply_at_a<double>(half, gradient, -0.5);
  return gradient;
}

/// Of ‖T‖_tr, through the singular values that are not zero.
CovarianceGradients gradients_of(const WhitenedPair& pair, const ThinSvd& svd) {
  constexpr double kNull = 1e-10;
  const Index r = (svd.values.array() > kNull).count();
  Matrix<double> rotated1(pair.t.rows(), r), rotated2(pair.t.cols(), r);  // R₁ U, R₂ V
  multiply<double>(pair.view1.root, svd.left.leftCols(r), rotated1);
  multiply_a_bt<double>(pair.view2.root, svd.right_t.topRows(r), rotated2);
  CovarianceGradients gradients{within(rotated1, svd.values.head(r)), within(rotated2, svd.values.head(r)),
                                Matrix<double>(pair.t.rows(), pair.t.cols())};
  multiply_a_bt<double>(rotated1, rotated2, gradients.s12);
  return gradients;
}

}  // namespace

template <class S>
double trace_norm(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, double batch_number,
                  double weight, ViewPairStatistics& statistics, MatrixRef<S> d1, MatrixRef<S> d2) {
  const WhitenedPair pair = whiten_pair<S>(h1, h2, options, batch_number, statistics);
  const ThinSvd svd = thin_svd(pair.t);
  Matrix<double> dh1 = Matrix<double>::Zero(h1.rows(), h1.cols());
  Matrix<double> dh2 = Matrix<double>::Zero(h2.rows(), h2.cols());
  whiten_pair_backward(pair, gradients_of(pair, svd), dh1, dh2);
  d1 -= (weight * dh1).template cast<S>();
  d2 -= (weight * dh2).template cast<S>();
  return -svd.values.sum();
}

template double trace_norm<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, const ViewPairOptions&, double, double,
                                  ViewPairStatistics&, MatrixRef<float>, MatrixRef<float>);
template double trace_norm<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, const ViewPairOptions&, double,
                                   double, ViewPairStatistics&, MatrixRef<double>, MatrixRef<double>);

}  // namespace tocca
