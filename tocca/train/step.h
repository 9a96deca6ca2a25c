/// One training step of every deep method: loss, gradients and Nadam on a mini-batch. Views run in parallel; the order
/// of every sum is fixed, so results do not depend on the number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/model/safetensors.h"
#include "tocca/ops/decorrelation.h"
#include "tocca/ops/lda_loss.h"
#include "tocca/ops/nadam.h"
#include "tocca/train/batch.h"
#include "tocca/train/objective.h"
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

/// Puts standardised rows of those samples of a view into `out` (samples.size() × d_v). Called from several threads at
/// once, for different views and for different parts of one view's batch, in any order.
template <class S>
using RowReader = std::function<void(Index view, std::span<const Index> samples, MatrixRef<S> out)>;

template <class S>
class TrainingStep {
 public:
  /// For batches of up to `capacity` samples. The network must outlive the step.
  TrainingStep(Network<S>& network, const Objective& objective, Index capacity, const Context& context);

  /// Loss and gradients (without weight decay's part) at the current parameters; running statistics move on.
  LossTerms gradients(const Batch& batch, const RowReader<S>& read, const Rng& rng);
  /// The same, then one Nadam step with weight decay.
  LossTerms step(const Batch& batch, const RowReader<S>& read, const Rng& rng, const NadamOptions& options);

  /// Moments and where the optimiser stands, to a file and back. Throws InputError for a file of another network.
  void save_optimizer(TensorFile& file) const;
  void load_optimizer(const TensorFile& file);

  /// From now on another objective; moments and statistics stay.
  void set_objective(const Objective& objective);
  [[nodiscard]] const Objective& objective() const { return objective_; }

  /// What gradients() found.
  [[nodiscard]] const Buffer<S>& gradient() const { return gradients_; }
  [[nodiscard]] ViewPass<S>& view(Index v) { return passes_[static_cast<std::size_t>(v)]; }

 private:
  struct HeadGradient {
    Matrix<S> weight;
    RowVector<S> bias;
    Matrix<S> scratch;
  };
  // What one view needs for itself besides its pass.
  struct ViewScratch {
    OuterScratch<S> outer;
    DecorrelationScratch<S> decorrelation;
    LdaLossScratch lda;
    Workspace work;
  };

  [[nodiscard]] Pieces pieces_of(const Batch& batch) const;
  void each_view(FunctionRef<void(std::size_t)> work);
  void forward(const Batch& batch, const RowReader<S>& read, const Rng& rng);
  [[nodiscard]] bool uses_cca_layer() const {
    return network_.shape.projection == Projection::cca && !objective_.skip_cca_layer;
  }
  void couple(const Batch& batch);
  void losses(std::size_t v, const Batch& batch, Index pairs);
  void couple_back();
  void encoder_backward(std::size_t v, const Rng& rng, bool with_update, const Pieces& pieces);
  void product_backward(std::size_t v, const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy, MatrixMap<S> dx,
                        bool with_update, const Pieces& pieces);
  void clear_gradients(std::size_t v);
  void head_losses(std::size_t v, const Batch& batch);
  double loss_of_head(std::size_t v, std::size_t h, const Batch& batch);
  void mix(std::size_t v, const Batch& batch);
  void collect_head_gradients();
  [[nodiscard]] NadamStep nadam_step(const Slot& slot) const;
  [[nodiscard]] NadamArrays<S> arrays(const Slot& slot);
  void update(const Slot& slot);
  void update(const Slot& slot, Index first, Index rows);
  void update_encoder(std::size_t v);
  LossTerms run(const Batch& batch, const RowReader<S>& read, const Rng& rng, bool with_update);

  Network<S>& network_;
  Objective objective_;
  Context context_;
  std::vector<ViewPass<S>> passes_;
  std::vector<PairPass<S>> pairs_;                         // where the network keeps pairs
  LossTerms coupled_;                                      // terms of all pairs
  std::vector<std::vector<HeadGradient>> head_gradients_;  // (V × heads), added in the order of the views
  std::vector<LossTerms> terms_;                           // one a view
  std::vector<ViewScratch> scratch_;                       // one a view
  std::vector<MatrixMap<S>> projections_;                  // Z of every view in this batch
  Buffer<S> gradients_, first_moments_, second_moments_;
  NadamSchedule schedule_;
  NadamOptions nadam_;
  NadamCoefficients coefficients_;
};

}  // namespace tocca
