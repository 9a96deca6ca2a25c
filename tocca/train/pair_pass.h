/// What ties a pair of views together in a batch beyond the ℓ₂ distance: the trace-norm objective, the CCA layer and
/// the ranking loss, on the samples that have both views.
#pragma once

#include "tocca/model/network.h"
#include "tocca/ops/cca_layer.h"
#include "tocca/ops/trace_norm.h"
#include "tocca/train/batch.h"
#include "tocca/train/view_pass.h"

namespace tocca {

template <class S>
class PairPass {
 public:
  /// `pair` numbers network.pairs. For batches of up to `capacity` samples.
  PairPass(const Network<S>& network, std::size_t pair, Index capacity);

  /// Takes the matched rows of A out of both views' passes; the running statistics of the pair move on with the next
  /// call. Returns how many there are; with fewer than two the pair is left out of this step.
  Index match(const BatchRows& row_of, ViewPass<S>& u, ViewPass<S>& v);

  /// −‖T‖_tr of the matched rows; adds weight · its gradient to the views' coupling().
  double trace_norm(Network<S>& network, double weight, ViewPass<S>& u, ViewPass<S>& v);

  /// A → Z through the CCA layer. Rows without a partner are projected with the same weights.
  void cca_forward(Network<S>& network, CcaBasis basis, ViewPass<S>& u, ViewPass<S>& v);
  /// ∂L/∂Z in the views' dz() becomes ∂L/∂A. A row without a partner takes the weights as constants.
  void cca_backward(const Network<S>& network, ViewPass<S>& u, ViewPass<S>& v);

  /// The pairwise ranking loss of the matched rows of Z; adds weight · its gradient to the views' dz().
  double ranking(double margin, double weight, ViewPass<S>& u, ViewPass<S>& v);

 private:
  MatrixMap<S> top(Matrix<S>& m) const { return {m.data(), rows_, m.cols()}; }
  double next_batch(Network<S>& network) const;
  [[nodiscard]] ViewPairOptions options(const Network<S>& network) const;
  ViewPairStatistics statistics(Network<S>& network) const;

  PairSlots slots_;
  Index rows_ = 0;
  std::vector<Index> rows_u_, rows_v_;  // of each matched sample
  Matrix<S> h_u_, h_v_, d_u_, d_v_;     // (capacity × d_o)
  TraceNormScratch trace_norm_;
  CcaLayerCache cache_;
  Workspace work_;
};

}  // namespace tocca
