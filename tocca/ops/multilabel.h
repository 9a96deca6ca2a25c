/// The binary cross-entropy of several yes-or-no targets, with missing ones.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// Mean over the present targets y of −y log p − (1 − y) log(1 − p), p = 1/(1 + e^{−logit}), in the form max(z, 0) − y
/// z
/// + log(1 + e^{−|z|}) that does not overflow. logits (m × t) are replaced by the gradient of that mean: entries with
/// target NaN add nothing and get a zero gradient; without any target the loss is 0. targets (m × t): 0, 1, or a
/// probability between.
template <class S>
double binary_cross_entropy(ConstMatrixRef<double> targets, MatrixRef<S> logits);

}  // namespace tocca
