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
#include "tocca/ops/nadam.h"
#include "tocca/train/batch.h"
#include "tocca/train/pair_pass.h"
#include "tocca/train/view_pass.h"

namespace tocca {

/// What pulls the views together.
enum class Agreement {
  none,
  l2,         ///< mean ‖z_u − z_v‖²
  trace_norm  ///< −‖T‖_tr, minus the sum of canonical correlations, of the A of each pair; mean over pairs
};

enum class Task {
  none,
  heads,   ///< Σ_v Σ_h weight_h · loss of head h on Z_v: cross-entropy, squared error, Cox, ... (model/head.h)
  lda,     ///< Σ_v DeepLDA objective of Z_v
  ranking  ///< pairwise ranking loss of Z_u, Z_v with cosine similarity; mean over pairs
};

/// L = task + agreement_weight · agreement + decorrelation_weight · Σ_v decorrelation(A_v)
///     + reconstruction_weight · Σ_v mean (X̂_v − X_v)² + private_weight · Σ_v mean of cov(A_v, P_v)²
///     + weight_decay · Σ ‖W‖²_F   (over weight matrices; the gradient is 2 · weight_decay · W, as in Keras)
struct Objective {
  Task task = Task::heads;
  Agreement agreement = Agreement::l2;
  double agreement_weight = 0.1;
  double decorrelation_weight = 0;   ///< needs a network with `decorrelated`
  double reconstruction_weight = 0;  ///< of a network that reconstructs
  double private_weight = 1;         ///< of a network with private components
  double weight_decay = 0;
  Perturbation perturbation = {};
  /// Passes A by the CCA layer: Z is not computed, and only losses of A count.
  bool skip_cca_layer = false;
  double margin = 0.5;                             ///< of the ranking loss
  std::vector<double> head_weights = {};           ///< of each head's loss; empty: all 1
  std::vector<HeadLossOptions> head_options = {};  ///< of each head; empty: as they are by default

  [[nodiscard]] double head_weight(std::size_t head) const { return head_weights.empty() ? 1 : head_weights[head]; }

  /// Throws InputError where the network lacks what a term needs (a head, kept pairs), or a term needs two views.
  void validate(const NetworkShape& shape) const;
};

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

/// Puts standardised rows of those samples of a view into `out`. Called for several views at once.
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
  };

  void forward(const Batch& batch, const RowReader<S>& read, const Rng& rng);
  [[nodiscard]] bool uses_cca_layer() const {
    return network_.shape.projection == Projection::cca && !objective_.skip_cca_layer;
  }
  void couple(const Batch& batch);
  void losses(std::size_t v, const Batch& batch, Index pairs);
  void couple_back();
  void encoder_backward(std::size_t v, const Rng& rng, bool with_update);
  void weight_gradient(const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy, bool with_update);
  void clear_gradients(std::size_t v);
  void head_losses(std::size_t v, const Batch& batch);
  double loss_of_head(std::size_t v, std::size_t h, const Batch& batch);
  void mix(std::size_t v, const Batch& batch);
  void collect_head_gradients();
  [[nodiscard]] NadamStep nadam_step(const Slot& slot) const;
  [[nodiscard]] NadamArrays<S> arrays(const Slot& slot);
  void update(const Slot& slot);
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
  Buffer<S> gradients_, first_moments_, second_moments_;
  NadamSchedule schedule_;
  NadamOptions nadam_;
  NadamCoefficients coefficients_;
};

}  // namespace tocca
