#include "tocca/train/batch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tocca {
namespace {

// Which of its views each sample of the batch keeps (V × m).
using Presence = std::vector<std::vector<bool>>;

Presence draw_presence(const Dataset& data, std::span<const Index> samples, double rate, Rng rng) {
  const auto& views = data.views.views;
  Presence kept(views.size(), std::vector<bool>(samples.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::vector<std::size_t> there;
    for (std::size_t v = 0; v < views.size(); ++v) {
      if (views[v].has(samples[i])) there.push_back(v);
    }
    if (there.empty()) continue;
    const std::size_t saved = rate > 0 ? there[rng.below(there.size())] : 0;
    for (const std::size_t v : there) kept[v][i] = rate <= 0 || rng.uniform() >= rate || v == saved;
  }
  return kept;
}

// Beta(α, α) by Jöhnk's rejection, which is fast for α ≤ 1. Logarithms, since u^(1/α) underflows for small α.
double draw_share(double alpha, Rng rng) {
  while (true) {
    const double x = std::log(1 - rng.uniform()) / alpha;
    const double y = std::log(1 - rng.uniform()) / alpha;
    const double most = std::max(x, y);
    const double log_sum = most + std::log(std::exp(x - most) + std::exp(y - most));
    if (log_sum <= 0) return std::exp(x - log_sum);
  }
}

void clear_view(Batch& batch, std::size_t v) {
  batch.samples[v].clear();
  batch.labels[v].clear();
  for (HeadTargets& target : batch.targets[v]) target.clear();
  std::fill(batch.row_of[v].begin(), batch.row_of[v].end(), -1);
}

void fill_view(Batch& batch, std::size_t v, const Dataset& data, std::span<const Index> samples,
               const std::vector<bool>& kept) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!kept[i]) {
      batch.row_of[v].push_back(-1);
      continue;
    }
    batch.row_of[v].push_back(static_cast<Index>(batch.samples[v].size()));
    batch.samples[v].push_back(samples[i]);
  }
  batch.labels[v].add(data.labels, batch.samples[v]);
  for (std::size_t t = 0; t < data.targets.size(); ++t) batch.targets[v][t].add(data.targets[t], batch.samples[v]);
}

// Another sample of the batch for each one of which something is known, by chance among those with the same views.
std::vector<Index> draw_partners(const Batch& batch, const Dataset& data, std::span<const Index> samples, Rng rng) {
  std::map<std::vector<bool>, std::vector<Index>> groups;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!data.labelled(samples[i])) continue;
    std::vector<bool> there;
    for (const auto& rows : batch.row_of) there.push_back(rows[i] >= 0);
    groups[there].push_back(static_cast<Index>(i));
  }
  std::vector<Index> partner(samples.size());
  std::iota(partner.begin(), partner.end(), Index{0});
  for (const auto& [there, members] : groups) {
    std::vector<Index> shuffled = members;
    rng.shuffle(shuffled);
    for (std::size_t i = 0; i < members.size(); ++i) partner[static_cast<std::size_t>(members[i])] = shuffled[i];
  }
  return partner;
}

void add_partners(Batch& batch, const Dataset& data, std::span<const Index> samples, double alpha, const Rng& rng) {
  batch.own_share = draw_share(alpha, rng.split("mixup share"));
  const std::vector<Index> partner = draw_partners(batch, data, samples, rng.split("mixup partner"));
  batch.partner.resize(batch.samples.size());
  for (std::size_t v = 0; v < batch.samples.size(); ++v) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (batch.row_of[v][i] < 0) continue;
      batch.partner[v].push_back(batch.row_of[v][static_cast<std::size_t>(partner[i])]);
    }
  }
}

std::vector<std::vector<Index>> cut(const std::vector<Index>& order, Index size, Index least_rows) {
  const auto n = static_cast<Index>(order.size());
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

}  // namespace

Batch make_batch(const Dataset& data, std::span<const Index> samples, const BatchOptions& options, const Rng& rng) {
  const std::size_t views = data.views.views.size();
  Batch batch;
  batch.samples.resize(views);
  batch.row_of.resize(views);
  batch.labels.resize(views);
  batch.targets.assign(views, std::vector<HeadTargets>(data.targets.size()));
  const Presence kept = draw_presence(data, samples, options.view_dropout, rng.split("view dropout"));
  for (std::size_t v = 0; v < views; ++v) {
    fill_view(batch, v, data, samples, kept[v]);
    if (static_cast<Index>(batch.samples[v].size()) < options.least_rows) clear_view(batch, v);
  }
  if (options.mixup > 0) add_partners(batch, data, samples, options.mixup, rng);
  return batch;
}

std::vector<std::vector<Index>> cut_batches(Index n, Index size, Index least_rows, Rng rng) {
  return cut(rng.permutation(n), size, least_rows);
}

std::vector<std::vector<Index>> cut_stratified_batches(std::span<const int> codes, Index size, Index least_rows,
                                                       Rng rng) {
  const auto n = static_cast<Index>(codes.size());
  const std::vector<Index> order = rng.permutation(n);
  std::map<int, std::vector<Index>> classes;
  for (const Index i : order) classes[codes[static_cast<std::size_t>(i)]].push_back(i);
  // The j-th of a class of c samples stands at (j + a random offset) / c of the epoch.
  std::vector<std::pair<double, Index>> places;
  for (const auto& [code, members] : classes) {
    const double offset = rng.uniform();
    for (std::size_t j = 0; j < members.size(); ++j) {
      places.emplace_back((static_cast<double>(j) + offset) / static_cast<double>(members.size()), members[j]);
    }
  }
  std::sort(places.begin(), places.end());
  std::vector<Index> spread;
  for (const auto& [place, sample] : places) spread.push_back(sample);
  return cut(spread, size, least_rows);
}

}  // namespace tocca
