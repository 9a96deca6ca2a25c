/// What training measures after each epoch.
#pragma once

#include "tocca/train/trainer.h"

namespace tocca {

/// Activations of recent training batches, for a linear CCA that is fitted on training data alone: a ring of up to
/// `capacity` samples that have every view. Each batch had a projection of its own; of() uses the last.
class RecentActivations {
 public:
  RecentActivations(Index views, Index components, Index capacity = 2048);
  /// Takes over A of the step's batch.
  void add(TrainingStep<float>& step, const Batch& batch);
  /// Their projections (rows so far × d_o).
  [[nodiscard]] Matrix<double> projected(const Network<float>& network, Index view) const;
  [[nodiscard]] Index rows() const { return filled_; }

  /// To a file and back.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

 private:
  std::vector<Matrix<float>> rings_;  // (V) of (capacity × d_o)
  Index next_ = 0;
  Index filled_ = 0;
};

/// Scores of the heads and task loss on the validation samples, and the sum of held-out correlations, into the
/// record.
void validate_epoch(const Network<float>& network, const Objective& objective, const TrainingData& validation,
                    const RecentActivations& recent, const Context& context, EpochRecord& record);

}  // namespace tocca
