/// Mini-batches: which samples, and where they stand in each view.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/data/views.h"
#include "tocca/ops/l2_distance.h"

namespace tocca {

struct Batch {
  std::vector<std::vector<Index>> samples;  ///< (V) the samples whose rows view v reads; empty: left out of this step
  BatchRows row_of;                         ///< (V × m) row of each sample of the batch in view v, or −1
  std::vector<std::vector<int>> labels;     ///< (V) labels of the rows of view v; −1: unlabelled
};

/// A batch of the given samples (m). A view with fewer than `least_rows` of them is left out: batch norm needs two.
Batch make_batch(const Dataset& data, std::span<const Index> samples, Index least_rows = 2);

/// Cuts a random order of 0 ... n − 1 into batches of `size`. What is left over is a batch of its own unless it has
/// fewer than `least_rows` samples; then it joins the batch before. (An epoch's `rng` is split by its number.)
std::vector<std::vector<Index>> cut_batches(Index n, Index size, Index least_rows, Rng rng);

}  // namespace tocca
