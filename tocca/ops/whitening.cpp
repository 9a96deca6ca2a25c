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
  const Matrix<double> used = w.correction * statistics.covariance + options.epsilon * Matrix<double>::Identity(d, d);
  cache.eigen = symmetric_eigen(used);
  cache.transform = inverse_sqrt(cache.eigen);
  statistics.transform = cache.transform;
  const Matrix<S> centred = cache.centred.template cast<S>();
  multiply<S>(centred, cache.transform.template cast<S>(), b);
}

template <class S>
void whitening_backward(const WhiteningCache& cache, MatrixRef<S> d) {
  const Index k = d.cols();
  const Matrix<double> g = d.template cast<double>();  // ∂L/∂B
  Matrix<double> du(k, k);                             // ∂L/∂U = Āᵀ G
  multiply_at_b<double>(cache.centred, g, du);
  const Matrix<double> dcov = inverse_sqrt_adjoint(cache.eigen, du);  // ∂L/∂Σ̂
  Matrix<double> dcentred(d.rows(), k);                               // ∂L/∂Ā: through B directly, then through Σ
  multiply<double>(g, cache.transform, dcentred);
  multiply<double>(cache.centred, dcov, dcentred, 2 * cache.share / static_cast<double>(d.rows() - 1), 1);
  const RowVector<double> through_mean = cache.share * dcentred.colwise().mean();
  dcentred.rowwise() -= through_mean;
  d = dcentred.template cast<S>();
}

template <class S>
void whitening_infer(ConstMatrixRef<S> a, ConstMatrixRef<double> centre, ConstMatrixRef<double> transform,
                     MatrixRef<S> b) {
  const Matrix<S> centred = a.rowwise() - centre.row(0).template cast<S>();
  multiply<S>(centred, transform.template cast<S>(), b);
}

#define TOCCA_INSTANTIATE(S)                                                                                   \
  template void whitening_forward<S>(ConstMatrixRef<S>, const WhiteningOptions&, double, WhiteningStatistics&, \
                                     WhiteningCache&, MatrixRef<S>);                                           \
  template void whitening_backward<S>(const WhiteningCache&, MatrixRef<S>);                                    \
  template void whitening_infer<S>(ConstMatrixRef<S>, ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
