#include "tocca/ops/whitening.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/running.h"

namespace tocca {
namespace {

// Whether a batch goes back in the coordinates of the eigenvectors.
bool turns_rows(Index rows, Index columns) { return rows < 2 * columns; }

// ∂L/∂Ā through B = Ā U directly and, `share` of it, through Σ, whose gradient comes from Āᵀ G.
void gradient_by_covariance(const WhiteningCache& cache, ConstMatrixRef<double> gradient, double share,
                            MatrixRef<double> dcentred, Workspace& work) {
  const Index k = gradient.cols();
  const ConstMatrixMap<double> centred = cache.centred.map();
  MatrixMap<double> dtransform = work.matrix<double>(k, k), dcovariance = work.matrix<double>(k, k);
  multiply_at_b<double>(centred, gradient, dtransform);
  inverse_sqrt_adjoint(cache.eigen, dtransform, dcovariance, work);
  multiply<double>(gradient, cache.transform, dcentred);
  multiply<double>(centred, dcovariance, dcentred, share, 1);
}

// The same in the coordinates of the eigenvectors, where U is diagonal: the rows are turned there and back instead of
// the gradient of Σ, which is less work when they are few.
void gradient_by_eigenvectors(const WhiteningCache& cache, ConstMatrixRef<double> gradient, double share,
                              MatrixRef<double> dcentred, Workspace& work) {
  const Index m = gradient.rows(), k = gradient.cols();
  const Matrix<double>& v = cache.eigen.vectors;
  MatrixMap<double> centred = work.matrix<double>(m, k), turned = work.matrix<double>(m, k);
  MatrixMap<double> inner = work.matrix<double>(k, k), factors = work.matrix<double>(1, k);
  multiply<double>(cache.centred.map(), v, centred);
  multiply<double>(gradient, v, turned);
  multiply_at_b<double>(centred, turned, inner);
  inverse_sqrt_differences(cache.eigen, inner, work);
  factors = cache.eigen.values.cwiseSqrt().cwiseInverse().transpose();
  turned.array().rowwise() *= factors.array().row(0);
  multiply<double>(centred, inner, turned, share, 1);
  multiply_a_bt<double>(turned, v, dcentred);
}

}  // namespace

template <class S>
void whitening_forward(ConstMatrixRef<S> a, const WhiteningOptions& options, double batch_number,
                       WhiteningStatistics& statistics, WhiteningCache& cache, MatrixRef<S> b, Workspace& work) {
  const Index m = a.rows(), d = a.cols();
  const Workspace::Frame frame(work);
  const RunningWeights w = options.running ? running_weights(options.momentum, batch_number) : RunningWeights{};
  cache.share = w.share;
  decompose_running_covariance<S>(a, w, options.epsilon, statistics.mean, statistics.covariance,
                                  statistics.centre.row(0), cache.centred, cache.eigen, work);
  inverse_sqrt(cache.eigen, statistics.transform, work);
  if (!turns_rows(m, d)) cache.transform = statistics.transform;
  MatrixMap<double> projected = work.matrix<double>(m, d);
  multiply<double>(cache.centred.map(), statistics.transform, projected);
  b = projected.template cast<S>();
}

template <class S>
void whitening_backward(const WhiteningCache& cache, MatrixRef<S> d, Workspace& work) {
  const Index m = d.rows(), k = d.cols();
  const Workspace::Frame frame(work);
  MatrixMap<double> gradient = work.matrix<double>(m, k), dcentred = work.matrix<double>(m, k);
  gradient = d.template cast<double>();  // ∂L/∂B
  const auto gradient_by = turns_rows(m, k) ? gradient_by_eigenvectors : gradient_by_covariance;
  gradient_by(cache, gradient, 2 * cache.share / static_cast<double>(m - 1), dcentred, work);
  subtract_share_of_mean(cache.share, dcentred, work);
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
                                     WhiteningCache&, MatrixRef<S>, Workspace&);                                    \
  template void whitening_backward<S>(const WhiteningCache&, MatrixRef<S>, Workspace&);                             \
  template void whitening_infer<S>(ConstMatrixRef<S>, ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<S>, \
                                   Workspace&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
