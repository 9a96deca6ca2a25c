#include "tocca/ops/view_pair.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/running.h"

namespace tocca {
namespace {

template <class S>
void whiten_view(ConstMatrixRef<S> h, const ViewPairOptions& options, const RunningWeights& w, MatrixRef<double> mean,
                 MatrixRef<double> covariance, WhitenedView& view, Workspace& work) {
  view.centre.resize(h.cols());
  decompose_running_covariance<S>(h, w, options.ridge, mean, covariance, view.centre, view.centred, view.eigen, work);
  view.root.resize(h.cols(), h.cols());
  inverse_sqrt(view.eigen, view.root, work);
}

}  // namespace

template <class S>
void whiten_pair(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, double batch_number,
                 ViewPairStatistics& statistics, WhitenedPair& pair, Workspace& work) {
  const RunningWeights w = options.running ? running_weights(options.momentum, batch_number) : RunningWeights{};
  pair.share = w.share;
  whiten_view<S>(h1, options, w, statistics.mean1, statistics.s11, pair.view1, work);
  whiten_view<S>(h2, options, w, statistics.mean2, statistics.s22, pair.view2, work);
  multiply_at_b<double>(pair.view1.centred.map(), pair.view2.centred.map(), statistics.s12,
                        w.add / static_cast<double>(h1.rows() - 1), w.keep);
  pair.s12 = w.correction * statistics.s12;
  const Workspace::Frame frame(work);
  MatrixMap<double> half = work.matrix<double>(h1.cols(), h2.cols());
  multiply<double>(pair.view1.root, pair.s12, half);
  pair.t.resize(h1.cols(), h2.cols());
  multiply<double>(half, pair.view2.root, pair.t);
}

void whiten_pair_backward(const WhitenedPair& pair, const CovarianceGradients& gradients, MatrixRef<double> dh1,
                          MatrixRef<double> dh2, Workspace& work) {
  const ConstMatrixMap<double> centred1 = pair.view1.centred.map(), centred2 = pair.view2.centred.map();
  const double factor = pair.share / static_cast<double>(dh1.rows() - 1);
  multiply<double>(centred1, gradients.s11, dh1, 2 * factor, 1);
  multiply_a_bt<double>(centred2, gradients.s12, dh1, factor, 1);
  multiply<double>(centred2, gradients.s22, dh2, 2 * factor, 1);
  multiply<double>(centred1, gradients.s12, dh2, factor, 1);
  subtract_share_of_mean(pair.share, dh1, work);
  subtract_share_of_mean(pair.share, dh2, work);
}

#define TOCCA_INSTANTIATE(S)                                                                         \
  template void whiten_pair<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, const ViewPairOptions&, double, \
                               ViewPairStatistics&, WhitenedPair&, Workspace&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
