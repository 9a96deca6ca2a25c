/// Dropout: during training, each entry is set to zero with a given probability and the others are scaled up.
///
/// N. Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, JMLR 15, 2014.
#pragma once

#include <cstdint>

#include "tocca/core/panels.h"

namespace tocca {

/// Zeroes each entry of x (m × d) with probability `rate`, 0 ≤ rate < 1, and divides the rest by 1 − rate. Which ones
/// depends on `key` (a stream of Rng: one for each step, view and layer) and their place alone, so that calling it with
/// the gradient is its own way back. x may lie row by row or in panels. The second is for columns first ... first +
/// count − 1 of it alone.
template <class S>
void dropout(PanelMap<S> x, double rate, std::uint64_t key);
template <class S>
void dropout(PanelMap<S> x, Index first, Index count, double rate, std::uint64_t key);

}  // namespace tocca
