/// One training step of every deep method: loss, gradients and Nadam on a mini-batch. Views run in parallel; the order
/// of every sum is fixed, so results do not depend on the number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/ops/decorrelation.h"
#include "tocca/ops/lda_loss.h"
#include "tocca/train/batch.h"
#include "tocca/train/head_pass.h"
#include "tocca/train/input_layers.h"
#include "tocca/train/objective.h"
#include "tocca/train/optimizer.h"
#include "tocca/train/pair_pass.h"
#include "tocca/train/view_pass.h"

namespace tocca {

/// The terms of the loss on a batch, the heads' weighted as in the objective, otherwise unweighted.
struct LossTerms {
  double task = 0;
  double agreement = 0;
  double decorrelation = 0;
  double reconstruction = 0;  ///< sum over views of the mean squared error of their columns
  double separation = 0;      ///< sum over views of the mean squared covariance of A with P

  [[nodiscard]] double total(const Objective& objective) const {
    return task + objective.agreement_weight * agreement + objective.decorrelation_weight * decorrelation +
           objective.reconstruction_weight * reconstruction + objective.private_weight * separation;
  }
};

/// Puts columns `first` to `first` + out.cols() of standardised rows of those samples of a view into `out`
/// (samples.size() × at most d_v). Called from several threads at once, for different views and for different parts of
/// one view's batch, in any order.
template <class S>
using RowReader = std::function<void(Index view, std::span<const Index> samples, Index first, MatrixRef<S> out)>;
/// Changes rows that were just read for a training batch (augmentation; samples.size() × d_v), likewise; depends on
/// `rng` and the samples alone.
template <class S>
using RowChange = std::function<void(Index view, std::span<const Index> samples, MatrixRef<S> rows, const Rng& rng)>;

template <class S>
class TrainingStep {
 public:
  /// For batches of up to `capacity` samples. The network must outlive the step.
  TrainingStep(Network<S>& network, const Objective& objective, Index capacity, const Context& context);

  /// Loss and gradients (without weight decay's part) at the current parameters; running statistics move on.
  LossTerms gradients(const Batch& batch, const RowReader<S>& read, const Rng& rng);
  /// The same, then one Nadam step with weight decay.
  LossTerms step(const Batch& batch, const RowReader<S>& read, const Rng& rng, const NadamOptions& options,
                 const RowChange<S>& change = {});

  [[nodiscard]] Optimizer<S>& optimizer() { return optimizer_; }

  /// From now on another objective; moments and statistics stay.
  void set_objective(const Objective& objective);
  [[nodiscard]] const Objective& objective() const { return objective_; }

  /// What gradients() found.
  [[nodiscard]] const Buffer<S>& gradient() const { return gradients_; }
  [[nodiscard]] ViewPass<S>& view(Index v) { return passes_[static_cast<std::size_t>(v)]; }

 private:
  // What one view needs for itself besides its pass.
  struct ViewScratch {
    DecorrelationScratch<S> decorrelation;
    LdaLossScratch lda;
    Workspace work;
  };

  [[nodiscard]] Pieces pieces_of(const Batch& batch) const;
  void each_view(FunctionRef<void(std::size_t)> work);
  // What one run is made with.
  struct Job {
    const Batch& batch;
    const RowReader<S>& read;
    const RowChange<S>* change;  // null: rows stay as they are read
    const Rng& rng;
    Pieces pieces;
    bool with_update;
    bool shares_inputs;  // parts of the first layers' products go to other threads
  };
  void forward(const Job& job);
  void alter(std::size_t v, const Job& job);
  void first_products(const Job& job);
  void first_weights_backward(const Job& job);
  [[nodiscard]] bool uses_cca_layer() const {
    return network_.shape.projection == Projection::cca && !objective_.skip_cca_layer;
  }
  void couple(const Batch& batch);
  void losses(std::size_t v, const Batch& batch, Index pairs);
  void couple_back();
  void encoder_backward(std::size_t v, const Job& job);
  void product_backward(std::size_t v, const Slot& weight, PanelMap<S> x, PanelMap<S> dy, PanelMap<S> dx,
                        ColumnsDone done, const Job& job);
  void weight_backward(const WeightRows<S>& rows, PanelMap<S> dx, Workspace& work, const Job& job);
  void clear_gradients(std::size_t v);
  void mix(std::size_t v, const Batch& batch);
  void update_encoder(std::size_t v);
  [[nodiscard]] Job job_of(const Batch& batch, const RowReader<S>& read, const RowChange<S>* change, const Rng& rng,
                           bool with_update) const;
  LossTerms run(const Job& job);

  Network<S>& network_;
  Objective objective_;
  Context context_;
  std::vector<ViewPass<S>> passes_;
  std::vector<HeadPass<S>> heads_;
  std::vector<PairPass<S>> pairs_;         // where the network keeps pairs
  LossTerms coupled_;                      // terms of all pairs
  std::vector<LossTerms> terms_;           // one a view
  std::vector<ViewScratch> scratch_;       // one a view, or of as many tasks that share inputs
  std::vector<MatrixMap<S>> projections_;  // Z of every view in this batch
  InputLayers<S> input_layers_;
  std::vector<PanelMap<S>> first_gradients_;  // where inputs are shared, of each view's first_product()
  Buffer<S> gradients_;
  Optimizer<S> optimizer_;
};

}  // namespace tocca
