#include "tocca/ops/whitening.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/running.h"

namespace tocca {

template <class S>
void whitening_forward(ConstMatrixRef<S> a, const WhiteningOptions& options, double batch_number,
                       WhiteningStatistics& statistics, WhiteningCache& cache, MatrixRef<S> b) {
  const Index d = a.cols();
  const RunningWeights w = options.running ? running_weights(options.momentum, batch_number) : RunningWeights{};
  cache.share = w.share;
  cache.centred = a.template cast<double>();
  statistics.mean = w.keep * statistics.mean + w.add * cache.centred.colwise().mean();
  statistics.centre = w.correction * statistics.mean;
  cache.centred.rowwise() -= statistics.centre.row(0);
  multiply_at_a<double>(cache.centred, statistics.covariance, w.add / static_cast<double>(a.rows() - 1), w.keep);
  cache.scratch = w.correction * statistics.covariance;
  cache.scratch.diagonal().array() += options.epsilon;
  symmetric_eigen(cache.scratch, cache.eigen, cache.symmetric);
  inverse_sqrt(cache.eigen, cache.transform, cache.symmetric);
  statistics.transform = cache.transform;
  cache.between.resize(a.rows(), d);
  multiply<double>(cache.centred, cache.transform, cache.between);
  b = cache.between.template cast<S>();
}

template <class S>
void whitening_backward(WhiteningCache& cache, MatrixRef<S> d) {
  const Index k = d.cols();
  cache.gradient = d.template cast<double>();  // ∂L/∂B
  cache.scratch.resize(k, k);
  multiply_at_b<double>(cache.centred, cache.gradient, cache.scratch);  // ∂L/∂U = Āᵀ G
  Matrix<double>& dcov = cache.dcovariance;                             // ∂L/∂Σ̂
  inverse_sqrt_adjoint(cache.eigen, cache.scratch, dcov, cache.symmetric);
  Matrix<double>& dcentred = cache.between;  // ∂L/∂Ā: through B directly, then through Σ
  dcentred.resize(d.rows(), k);
  multiply<double>(cache.gradient, cache.transform, dcentred);
  multiply<double>(cache.centred, dcov, dcentred, 2 * cache.share / static_cast<double>(d.rows() - 1), 1);
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
