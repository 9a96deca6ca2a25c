/// One training step of every deep method: loss, gradients and Nadam on a mini-batch. Views run in parallel; the order
/// of every sum is fixed, so results do not depend on the number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/ops/nadam.h"
#include "tocca/train/batch.h"
#include "tocca/train/view_pass.h"

namespace tocca {

/// L = Σ_v cross-entropy_v + agreement_weight · mean ‖z_u − z_v‖² + decorrelation_weight · Σ_v decorrelation(A_v)
///     + weight_decay · Σ ‖W‖²_F   (over weight matrices; the gradient is 2 · weight_decay · W, as in Keras)
struct Objective {
  double agreement_weight = 0.1;
  double decorrelation_weight = 0;  ///< needs a network with `decorrelated`
  double weight_decay = 0;
  double dropout = 0;  ///< rate after each hidden layer
};

/// The unweighted terms of the loss on a batch.
struct LossTerms {
  double task = 0;
  double agreement = 0;
  double decorrelation = 0;

  [[nodiscard]] double total(const Objective& objective) const {
    return task + objective.agreement_weight * agreement + objective.decorrelation_weight * decorrelation;
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

  /// What gradients() found.
  [[nodiscard]] const Buffer<S>& gradient() const { return gradients_; }
  [[nodiscard]] ViewPass<S>& view(Index v) { return passes_[static_cast<std::size_t>(v)]; }

 private:
  struct HeadGradient {
    Matrix<S> weight;
    RowVector<S> bias;
  };

  void forward(const Batch& batch, const RowReader<S>& read, const Rng& rng);
  void backward(std::size_t v, const Batch& batch, Index pairs, const Rng& rng, bool with_update);
  void weight_gradient(const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy, bool with_update);
  void clear_gradients(std::size_t v);
  void task_loss(std::size_t v, const Batch& batch);
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
  std::vector<HeadGradient> head_gradients_;  // one a view, added in order
  std::vector<LossTerms> terms_;              // one a view
  Buffer<S> gradients_, first_moments_, second_moments_;
  NadamSchedule schedule_;
  NadamOptions nadam_;
  NadamCoefficients coefficients_;
};

}  // namespace tocca
