#include "tocca/ops/trace_norm.h"

#include <cmath>

#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// −½ A D Aᵀ for A = R U (d × r), the gradient of ‖T‖_tr with respect to one view's covariance.
MatrixMap<double> within(ConstMatrixRef<double> rotated, const Vector<double>& values, Workspace& work) {
  const Index d = rotated.rows(), r = rotated.cols();
  MatrixMap<double> gradient = work.matrix<double>(d, d);
  const Workspace::Frame frame(work);
  MatrixMap<double> half = work.matrix<double>(r, d);
  for (Index i = 0; i < r; ++i) half.row(i) = std::sqrt(values(i)) * rotated.col(i).transpose();
  multiply_at_a<double>(half, gradient, -0.5);
  return gradient;
}

/// Of ‖T‖_tr, through the singular values that are not zero.
CovarianceGradients gradients_of(const WhitenedPair& pair, const ThinSvd& svd, Workspace& work) {
  constexpr double kNull = 1e-10;
  const Index r = (svd.values.array() > kNull).count();
  MatrixMap<double> rotated1 = work.matrix<double>(pair.t.rows(), r);  // R₁ U
  MatrixMap<double> rotated2 = work.matrix<double>(pair.t.cols(), r);  // R₂ V
  multiply<double>(pair.view1.root, svd.left.leftCols(r), rotated1);
  multiply_a_bt<double>(pair.view2.root, svd.right_t.topRows(r), rotated2);
  MatrixMap<double> s12 = work.matrix<double>(pair.t.rows(), pair.t.cols());
  multiply_a_bt<double>(rotated1, rotated2, s12);
  return {within(rotated1, svd.values, work), within(rotated2, svd.values, work), s12};
}

template <class S>
void subtract(double weight, ConstMatrixRef<double> gradient, MatrixRef<S> d) {
  d -= (weight * gradient).template cast<S>();
}

}  // namespace

template <class S>
double trace_norm(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, double batch_number,
                  double weight, ViewPairStatistics& statistics, MatrixRef<S> d1, MatrixRef<S> d2,
                  TraceNormScratch& scratch) {
  Workspace& work = scratch.work;
  whiten_pair<S>(h1, h2, options, batch_number, statistics, scratch.pair, work);
  thin_svd(scratch.pair.t, scratch.svd, work);
  const Workspace::Frame frame(work);
  MatrixMap<double> dh1 = work.matrix<double>(h1.rows(), h1.cols()), dh2 = work.matrix<double>(h2.rows(), h2.cols());
  dh1.setZero();
  dh2.setZero();
  whiten_pair_backward(scratch.pair, gradients_of(scratch.pair, scratch.svd, work), dh1, dh2, work);
  subtract<S>(weight, dh1, d1);
  subtract<S>(weight, dh2, d2);
  return -scratch.svd.values.sum();
}

#define TOCCA_INSTANTIATE(S)                                                                                  \
  template double trace_norm<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, const ViewPairOptions&, double, double, \
                                ViewPairStatistics&, MatrixRef<S>, MatrixRef<S>, TraceNormScratch&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
