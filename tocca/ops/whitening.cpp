#include "tocca/ops/whitening.h"

#include <utility>

#include "tocca/linalg/blas.h"
#include "tocca/ops/running.h"

namespace tocca {

template <class S>
void whitening_forward(ConstMatrixRef<S> a, const WhiteningOptions& options, double batch_number,
                       WhiteningStatistics& statistics, WhiteningCache& cache, MatrixRef<S> b) {
  const Index d = a.cols();
  const RunningWeights w = options.running ? running_weights(options.momentum, batch_number) : RunningWeights{};
  cache.share = w.share;
  MatrixMap<double> centred = cache.centred.resize(a.rows(), d);
  centred = a.template cast<double>();
  statistics.mean = w.keep * statistics.mean + w.add * centred.colwise().mean();
  statistics.centre = w.correction * statistics.mean;
  centred.rowwise() -= statistics.centre.row(0);
  multiply_at_a<double>(centred, statistics.covariance, w.add / static_cast<double>(a.rows() - 1), w.keep);
  cache.scratch = w.correction * statistics.covariance;
  cache.scratch.diagonal().array() += options.epsilon;
  symmetric_eigen(cache.scratch, cache.eigen, cache.symmetric);
  inverse_sqrt(cache.eigen, cache.transform, cache.symmetric);
  statistics.transform = cache.transform;
  MatrixMap<double> projected = cache.between.resize(a.rows(), d);
  multiply<double>(centred, cache.transform, projected);
  b = projected.template cast<S>();
}

namespace {

// ∂L/∂Ā through B = Ā U directly and, `share` of it, through Σ, whose gradient comes from Āᵀ G.
void gradient_by_covariance(WhiteningCache& cache, ConstMatrixRef<double> centred, ConstMatrixRef<double> gradient,
                            double share, MatrixRef<double> dcentred) {
  cache.scratch.resize(centred.cols(), centred.cols());
  multiply_at_b<double>(centred, gradient, cache.scratch);  // ∂L/∂U
  inverse_sqrt_adjoint(cache.eigen, cache.scratch, cache.dcovariance, cache.symmetric);
  multiply<double>(gradient, cache.transform, dcentred);
  multiply<double>(centred, cache.dcovariance, dcentred, share, 1);
}

// The same in the coordinates of the eigenvectors, where U is diagonal: the rows are turned there and back instead of
// the gradient of Σ, which is less work when they are few.
void gradient_by_eigenvectors(WhiteningCache& cache, ConstMatrixRef<double> centred, ConstMatrixRef<double> gradient,
                              double share, MatrixRef<double> dcentred) {
  const Index k = centred.cols();
  const Matrix<double>& v = cache.eigen.vectors;
  MatrixMap<double> turned = cache.turned.resize(centred.rows(), k);
  MatrixRef<double> turned_centred = dcentred;  // until the end
  Matrix<double>& inner = cache.scratch;
  inner.resize(k, k);
  multiply<double>(centred, v, turned_centred);
  multiply<double>(gradient, v, turned);
  multiply_at_b<double>(turned_centred, turned, inner);
  inverse_sqrt_differences(cache.eigen, inner, cache.symmetric);
  cache.mean = cache.eigen.values.cwiseSqrt().cwiseInverse();
  turned.array().rowwise() *= cache.mean.array();
  multiply<double>(turned_centred, inner, turned, share, 1);
  multiply_a_bt<double>(turned, v, dcentred);
}

}  // namespace

template <class S>
void whitening_backward(WhiteningCache& cache, MatrixRef<S> d) {
  const Index k = d.cols();
  const ConstMatrixMap<double> centred = std::as_const(cache.centred).map();
  MatrixMap<double> gradient = cache.gradient.resize(d.rows(), k);  // ∂L/∂B
  gradient = d.template cast<double>();
  MatrixMap<double> dcentred = cache.between.resize(d.rows(), k);
  const auto gradient_by = d.rows() < 2 * k ? gradient_by_eigenvectors : gradient_by_covariance;
  gradient_by(cache, centred, gradient, 2 * cache.share / static_cast<double>(d.rows() - 1), dcentred);
  cache.mean = cache.share * dcentred.colwise().mean();
  dcentred.rowwise() -= cache.mean;
  d = dcentred.template cast<S>();
}

template <class S>
void whitening_infer(ConstMatrixRef<S> a, ConstMatrixRef<double> centre, ConstMatrixRef<double> transform,
                     MatrixRef<S> b, Workspace& work) {
  const Workspace::Frame frame(work);
  MatrixMap<S> centred = work.matrix<S>(a.rows(), a.cols());
  MatrixMap<S> weights = work.matrix<S>(transform.rows(), transform.cols()), offset = work.matrix<S>(1, a.cols());
  offset = centre.template cast<S>();
  centred = a.rowwise() - offset.row(0);
  weights = transform.template cast<S>();
  multiply<S>(centred, weights, b);
}

#define TOCCA_INSTANTIATE(S)                                                                                        \
  template void whitening_forward<S>(ConstMatrixRef<S>, const WhiteningOptions&, double, WhiteningStatistics&,      \
                                     WhiteningCache&, MatrixRef<S>);                                                \
  template void whitening_backward<S>(WhiteningCache&, MatrixRef<S>);                                               \
  template void whitening_infer<S>(ConstMatrixRef<S>, ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<S>, \
                                   Workspace&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
