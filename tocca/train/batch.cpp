#include "tocca/train/batch.h"

#include <algorithm>

namespace tocca {

Batch make_batch(const Dataset& data, std::span<const Index> samples, Index least_rows) {
  const std::size_t views = data.views.views.size();
  Batch batch{std::vector<std::vector<Index>>(views), BatchRows(views), std::vector<std::vector<int>>(views)};
  for (std::size_t v = 0; v < views; ++v) {
    auto& row_of = batch.row_of[v];
    for (const Index sample : samples) {
      if (!data.views.views[v].has(sample)) {
        row_of.push_back(-1);
        continue;
      }
      row_of.push_back(static_cast<Index>(batch.samples[v].size()));
      batch.samples[v].push_back(sample);
      batch.labels[v].push_back(data.labels.codes.empty() ? -1 : data.labels.codes[static_cast<std::size_t>(sample)]);
    }
    if (static_cast<Index>(batch.samples[v].size()) >= least_rows) continue;
    batch.samples[v].clear();
    batch.labels[v].clear();
    std::fill(row_of.begin(), row_of.end(), -1);
  }
  return batch;
}

std::vector<std::vector<Index>> cut_batches(Index n, Index size, Index least_rows, Rng rng) {
  const std::vector<Index> order = rng.permutation(n);
  std::vector<std::vector<Index>> batches;
  for (Index first = 0; first < n; first += size) {
    const Index end = std::min(n, first + size);
    if (end - first < least_rows && !batches.empty()) {
      batches.back().insert(batches.back().end(), order.begin() + first, order.begin() + end);
    } else {
      batches.emplace_back(order.begin() + first, order.begin() + end);
    }
  }
  return batches;
}

}  // namespace tocca
