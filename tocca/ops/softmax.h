/// The softmax cross-entropy, with missing labels.
#pragma once

#include <span>

#include "tocca/core/matrix.h"

namespace tocca {

/// Mean over the labelled rows of −log softmax(logits)_label. logits (m × C) are replaced by the gradient of that mean:
/// rows with label −1 add nothing and get a zero gradient; a batch without labels has loss 0. labels (m).
template <class S>
double softmax_cross_entropy(std::span<const int> labels, MatrixRef<S> logits);

/// Each row of logits (m × C) ← log softmax of the row.
template <class S>
void log_softmax(MatrixRef<S> logits);

}  // namespace tocca
