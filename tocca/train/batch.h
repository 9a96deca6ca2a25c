/// Mini-batches: which samples, where they stand in each view, and what is known of them.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/data/views.h"
#include "tocca/model/head.h"
#include "tocca/ops/l2_distance.h"

namespace tocca {

struct Batch {
  std::vector<std::vector<Index>> samples;  ///< (V) the samples whose rows view v reads; empty: left out of this step
  BatchRows row_of;                         ///< (V × m) row of each sample of the batch in view v, or −1
  std::vector<HeadTargets> labels;          ///< (V) labels of the rows of view v; −1: unlabelled
  std::vector<std::vector<HeadTargets>> targets;  ///< (V × T) every target of the data set, of the rows of view v
  /// Mixup: row i of view v stands for own_share · row i + (1 − own_share) · row partner[v][i], and so do its targets.
  std::vector<std::vector<Index>> partner;  ///< (V × rows); empty: nothing is mixed
  double own_share = 1;

  /// What the rows of a view should give for target `target`; −1: for the labels.
  [[nodiscard]] const HeadTargets& known(std::size_t view, int target) const {
    return target < 0 ? labels[view] : targets[view][static_cast<std::size_t>(target)];
  }
};

struct BatchOptions {
  Index least_rows = 2;     ///< a view with fewer rows is left out: batch norm needs two
  double view_dropout = 0;  ///< rate at which a view of a sample is left out; one always stays
  /// α of mixup (H. Zhang et al., mixup: beyond empirical risk minimization, ICLR 2018), 0 to 1: the own share of a
  /// batch is Beta(α, α); 0: none. Samples of which something is known are mixed with another that has the same views;
  /// others stay as they are.
  double mixup = 0;
};

/// A batch of the given samples (m).
Batch make_batch(const Dataset& data, std::span<const Index> samples, const BatchOptions& options = {},
                 const Rng& rng = Rng());

/// Cuts a random order of 0 ... n − 1 into batches of `size`. What is left over is a batch of its own unless it has
/// fewer than `least_rows` samples; then it joins the batch before. (An epoch's `rng` is split by its number.)
std::vector<std::vector<Index>> cut_batches(Index n, Index size, Index least_rows, Rng rng);
/// The same with every class (and the unlabelled) spread evenly over the batches. codes (n), −1: unlabelled.
std::vector<std::vector<Index>> cut_stratified_batches(std::span<const int> codes, Index size, Index least_rows,
                                                       Rng rng);

}  // namespace tocca
