/// What a deep method minimises: the terms of its loss and their weights.
#pragma once

#include <vector>

#include "tocca/model/head.h"
#include "tocca/model/network.h"
#include "tocca/ops/cca_layer.h"
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
  CcaBasis cca_basis = CcaBasis::aligned;  ///< of a network with a CCA layer
  /// Passes A by the CCA layer: Z is not computed, and only losses of A count.
  bool skip_cca_layer = false;
  double margin = 0.5;                             ///< of the ranking loss
  std::vector<double> head_weights = {};           ///< of each head's loss; empty: all 1
  std::vector<HeadLossOptions> head_options = {};  ///< of each head; empty: as they are by default

  [[nodiscard]] double head_weight(std::size_t head) const { return head_weights.empty() ? 1 : head_weights[head]; }

  /// Throws InputError where the network lacks what a term needs (a head, kept pairs), or a term needs two views.
  void validate(const NetworkShape& shape) const;
};

}  // namespace tocca
