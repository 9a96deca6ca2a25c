#include "tocca/train/pair_pass.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/ranking.h"

namespace tocca {
namespace {

template <class S>
void gather(MatrixMap<S> from, const std::vector<Index>& rows, MatrixMap<S> to) {
  for (std::size_t i = 0; i < rows.size(); ++i) to.row(static_cast<Index>(i)) = from.row(rows[i]);
}

template <class S>
void scatter(MatrixMap<S> from, const std::vector<Index>& rows, MatrixMap<S> to) {
  for (std::size_t i = 0; i < rows.size(); ++i) to.row(rows[i]) = from.row(static_cast<Index>(i));
}

template <class S>
void scatter_add(MatrixMap<S> from, const std::vector<Index>& rows, MatrixMap<S> to) {
  for (std::size_t i = 0; i < rows.size(); ++i) to.row(rows[i]) += from.row(static_cast<Index>(i));
}

// z ← (a − centre) W with the weights that the network has now.
template <class S>
void project_all(Network<S>& network, const Slot& centre, const Slot& weights, ViewPass<S>& view, Workspace& work) {
  if (view.rows() == 0) return;
  whitening_infer<S>(view.a(), network.statistics[centre], network.statistics[weights], view.z(), work);
}

// dz ← dz Wᵀ.
template <class S>
void back_all(const Network<S>& network, const Slot& weights, ViewPass<S>& view, Workspace& work) {
  if (view.rows() == 0) return;
  const Workspace::Frame frame(work);
  MatrixMap<S> dz = work.matrix<S>(view.rows(), view.dz().cols()), w = work.matrix<S>(weights.rows, weights.columns);
  dz = view.dz();
  w = network.statistics[weights].template cast<S>();
  MatrixMap<S> out = view.dz();
  multiply_a_bt<S>(dz, w, out);
}

}  // namespace

template <class S>
PairPass<S>::PairPass(const Network<S>& network, std::size_t pair, Index capacity) : slots_(network.pairs[pair]) {
  for (Matrix<S>* m : {&h_u_, &h_v_, &d_u_, &d_v_}) m->resize(capacity, network.shape.components);
}

template <class S>
Index PairPass<S>::match(const BatchRows& row_of, ViewPass<S>& u, ViewPass<S>& v) {
  rows_u_.clear();
  rows_v_.clear();
  for (std::size_t p = 0; p < row_of[slots_.u].size(); ++p) {
    if (row_of[slots_.u][p] < 0 || row_of[slots_.v][p] < 0) continue;
    rows_u_.push_back(row_of[slots_.u][p]);
    rows_v_.push_back(row_of[slots_.v][p]);
  }
  rows_ = static_cast<Index>(rows_u_.size());
  gather<S>(u.a(), rows_u_, top(h_u_));
  gather<S>(v.a(), rows_v_, top(h_v_));
  return rows_;
}

template <class S>
double PairPass<S>::next_batch(Network<S>& network) const {
  return network.statistics[slots_.batches](0, 0) += 1;
}

template <class S>
ViewPairOptions PairPass<S>::options(const Network<S>& network) const {
  const NetworkShape& shape = network.shape;
  return {.ridge = shape.whitening.epsilon, .momentum = shape.momentum, .running = shape.whitening.running};
}

template <class S>
ViewPairStatistics PairPass<S>::statistics(Network<S>& network) const {
  auto& s = network.statistics;
  return {s[slots_.mean1], s[slots_.mean2], s[slots_.s11], s[slots_.s22], s[slots_.s12]};
}

template <class S>
double PairPass<S>::trace_norm(Network<S>& network, double weight, ViewPass<S>& u, ViewPass<S>& v) {
  if (rows_ < 2) return 0;
  top(d_u_).setZero();
  top(d_v_).setZero();
  ViewPairStatistics running = statistics(network);
  const double loss = tocca::trace_norm<S>(top(h_u_), top(h_v_), options(network), next_batch(network), weight, running,
                                           top(d_u_), top(d_v_), trace_norm_);
  scatter_add<S>(top(d_u_), rows_u_, u.coupling());
  scatter_add<S>(top(d_v_), rows_v_, v.coupling());
  return loss;
}

template <class S>
void PairPass<S>::cca_forward(Network<S>& network, CcaBasis basis, ViewPass<S>& u, ViewPass<S>& v) {
  if (rows_ >= 2) {
    auto& s = network.statistics;
    CcaLayerStatistics running{statistics(network), s[slots_.centre1], s[slots_.centre2], s[slots_.weights1],
                               s[slots_.weights2]};
    cca_layer_forward<S>(top(h_u_), top(h_v_), options(network), basis, next_batch(network), running, cache_, top(d_u_),
                         top(d_v_));
  }
  project_all(network, slots_.centre1, slots_.weights1, u, work_);
  project_all(network, slots_.centre2, slots_.weights2, v, work_);
  if (rows_ < 2) return;
  scatter<S>(top(d_u_), rows_u_, u.z());
  scatter<S>(top(d_v_), rows_v_, v.z());
}

template <class S>
void PairPass<S>::cca_backward(const Network<S>& network, ViewPass<S>& u, ViewPass<S>& v) {
  if (rows_ >= 2) {
    gather<S>(u.dz(), rows_u_, top(h_u_));
    gather<S>(v.dz(), rows_v_, top(h_v_));
    cca_layer_backward<S>(cache_, top(h_u_), top(h_v_), top(d_u_), top(d_v_));
  }
  back_all(network, slots_.weights1, u, work_);
  back_all(network, slots_.weights2, v, work_);
  if (rows_ < 2) return;
  scatter<S>(top(d_u_), rows_u_, u.dz());
  scatter<S>(top(d_v_), rows_v_, v.dz());
}

template <class S>
double PairPass<S>::ranking(double margin, double weight, ViewPass<S>& u, ViewPass<S>& v) {
  if (rows_ < 2) return 0;
  gather<S>(u.z(), rows_u_, top(h_u_));
  gather<S>(v.z(), rows_v_, top(h_v_));
  top(d_u_).setZero();
  top(d_v_).setZero();
  const double loss = pairwise_ranking_loss<S>(top(h_u_), top(h_v_), margin, weight, top(d_u_), top(d_v_), work_);
  scatter_add<S>(top(d_u_), rows_u_, u.dz());
  scatter_add<S>(top(d_v_), rows_v_, v.dz());
  return loss;
}

template class PairPass<float>;
template class PairPass<double>;

}  // namespace tocca
