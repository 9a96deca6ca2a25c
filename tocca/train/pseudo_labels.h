/// Clusters as labels, for learning without any.
#pragma once

#include <optional>

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/model/safetensors.h"
#include "tocca/train/trainer.h"

namespace tocca {

/// The training data with the numbers of clusters as labels, or (0 clusters) as they are.
class PseudoLabels {
 public:
  /// Throws InputError with fewer samples than clusters.
  PseudoLabels(const TrainingData& training, Index clusters);
  /// k-means of each sample's projections, averaged over its views. Clusters keep the number of the earlier cluster
  /// with which they share most samples (an assignment problem).
  void renew(const Network<float>& network, const Rng& rng, const Context& context);
  /// To a file and back.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);
  [[nodiscard]] const Dataset& data() const { return clustered_ ? *clustered_ : *training_.dataset; }

 private:
  const TrainingData& training_;
  Index clusters_;
  std::optional<Dataset> clustered_;
};

}  // namespace tocca
