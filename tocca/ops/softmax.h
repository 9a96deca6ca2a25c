/// The softmax cross-entropy, with missing labels, weights of the classes, and label smoothing.
#pragma once

#include <span>

#include "tocca/core/matrix.h"

namespace tocca {

/// Mean over the labelled rows of −log softmax(logits)_label. logits (m × C) are replaced by the gradient of that mean:
/// rows with label −1 add nothing and get a zero gradient; a batch without labels has loss 0. labels (m).
template <class S>
double softmax_cross_entropy(std::span<const int> labels, MatrixRef<S> logits);

struct SoftmaxOptions {
  RowVector<double> class_weights;  ///< (C) weight of a row by its label, ≥ 0; empty: all 1
  double label_smoothing = 0;       ///< ε: the share of a label spread evenly over all classes, 0 ≤ ε < 1

  /// Throws InputError naming the field, its value and the constraint, for logits of so many classes.
  void validate(Index classes) const;
};

/// The weighted mean Σ wᵢ lᵢ / Σ wᵢ over the labelled rows, wᵢ = class_weights of the row's label, of lᵢ = −Σ_c q_c log
/// softmax(logits)_c with q = (1 − ε) · one-hot + ε/C; otherwise as above. Where all weights are 0, the loss is 0.
/// Throws what options.validate does.
///
/// C. Szegedy et al., Rethinking the Inception architecture for computer vision, CVPR 2016, section 7 (smoothing).
template <class S>
double softmax_cross_entropy(std::span<const int> labels, const SoftmaxOptions& options, MatrixRef<S> logits);

/// Each row of logits (m × C) ← log softmax of the row.
template <class S>
void log_softmax(MatrixRef<S> logits);

}  // namespace tocca
