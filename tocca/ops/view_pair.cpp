#include "tocca/ops/view_pair.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/running.h"

namespace tocca {
namespace {

template <class S>
WhitenedView whiten_view(ConstMatrixRef<S> h, const ViewPairOptions& options, const RunningWeights& w,
                         MatrixRef<double> mean, MatrixRef<double> covariance) {
  WhitenedView view;
  view.centred = h.template cast<double>();
  mean = w.keep * mean + w.add * view.centred.colwise().mean();
  view.centre = w.correction * mean.row(0);
  view.centred.rowwise() -= view.centre;
  multiply_at_a<double>(view.centred, covariance, w.add / static_cast<double>(h.rows() - 1), w.keep);
  Matrix<double> used = w.correction * covariance;
  used.diagonal().array() += options.ridge;
  view.eigen = symmetric_eigen(used);
  view.root = inverse_sqrt(view.eigen);
  return view;
}

void subtract_share_of_mean(double share, MatrixRef<double> d) {
  const RowVector<double> through_mean = share * d.colwise().mean();
  d.rowwise() -= through_mean;
}

}  // namespace

template <class S>
WhitenedPair whiten_pair(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options,
                         double batch_number, ViewPairStatistics& statistics) {
  const RunningWeights w = options.running ? running_weights(options.momentum, batch_number) : RunningWeights{};
  WhitenedPair pair;
  pair.share = w.share;
  pair.view1 = whiten_view<S>(h1, options, w, statistics.mean1, statistics.s11);
  pair.view2 = whiten_view<S>(h2, options, w, statistics.mean2, statistics.s22);
  multiply_at_b<double>(pair.view1.centred, pair.view2.centred, statistics.s12,
                        w.add / static_cast<double>(h1.rows() - 1), w.keep);
  pair.s12 = w.correction * statistics.s12;
  Matrix<double> half(h1.cols(), h2.cols());
  multiply<double>(pair.view1.root, pair.s12, half);
  pair.t.resize(h1.cols(), h2.cols());
  multiply<double>(half, pair.view2.root, pair.t);
  return pair;
}

void whiten_pair_backward(const WhitenedPair& pair, const CovarianceGradients& gradients, MatrixRef<double> dh1,
                          MatrixRef<double> dh2) {
  const Matrix<double>&centred1 = pair.view1.centred, &centred2 = pair.view2.centred;
  const double factor = pair.share / static_cast<double>(dh1.rows() - 1);
  multiply<double>(centred1, gradients.s11, dh1, 2 * factor, 1);
  multiply_a_bt<double>(centred2, gradients.s12, dh1, factor, 1);
  multiply<double>(centred2, gradients.s22, dh2, 2 * factor, 1);
  multiply<double>(centred1, gradients.s12, dh2, factor, 1);
  subtract_share_of_mean(pair.share, dh1);
  subtract_share_of_mean(pair.share, dh2);
}

template WhitenedPair whiten_pair<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, const ViewPairOptions&, double,
                                         ViewPairStatistics&);
template WhitenedPair whiten_pair<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, const ViewPairOptions&,
                                          double, ViewPairStatistics&);

}  // namespace tocca
