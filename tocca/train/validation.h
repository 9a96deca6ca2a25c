/// What training measures after each epoch.
#pragma once

#include "tocca/train/trainer.h"

namespace tocca {

/// Projections of recent training batches, for a linear CCA that is fitted on training data alone: a ring of up to
/// `capacity` samples that have every view.
class RecentProjections {
 public:
  RecentProjections(Index views, Index components, Index capacity = 2048);
  /// Takes over z of the step's batch.
  void add(TrainingStep<float>& step, const Batch& batch);
  /// (rows so far × d_o)
  [[nodiscard]] Matrix<double> of(Index view) const;
  [[nodiscard]] Index rows() const { return filled_; }

 private:
  std::vector<Matrix<float>> rings_;  // (V) of (capacity × d_o)
  Index next_ = 0;
  Index filled_ = 0;
};

/// Accuracy (with a head) and task loss on the validation samples, and the sum of held-out correlations, into the
/// record.
void validate_epoch(const Network<float>& network, const Objective& objective, const TrainingData& validation,
                    const RecentProjections& recent, const Context& context, EpochRecord& record);

}  // namespace tocca
