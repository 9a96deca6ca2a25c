#include "tocca/data/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "tocca/core/error.h"

namespace tocca {
namespace {

/// The samples of each class, of the unlabelled (−1) too, in random order; classes ascending.
std::map<int, std::vector<Index>> shuffled_groups(const std::vector<int>& codes, const Rng& rng) {
  std::map<int, std::vector<Index>> groups;
  for (std::size_t i = 0; i < codes.size(); ++i) groups[std::max(codes[i], -1)].push_back(static_cast<Index>(i));
  for (auto& [code, members] : groups) rng.split("class", static_cast<std::uint64_t>(code + 1)).shuffle(members);
  return groups;
}

void check_split(const Labels& labels, Index samples, double fraction) {
  if (!(fraction > 0 && fraction < 1)) {
    throw InputError("split",
                     fmt::format("held-out fraction is out of range: got {}, need more than 0 and less than 1; "
                                 "choose one such as 0.2",
                                 fraction));
  }
  if (samples < 2) {
    throw InputError("split", fmt::format("too few samples: got {}, need at least 2; give more samples", samples));
  }
  if (!labels.codes.empty() && labels.size() != samples) {
    throw InputError("split", fmt::format("labels don't match the samples: got {} labels, need {}, one a sample; check "
                                          "how they were joined",
                                          labels.size(), samples));
  }
}

void check_folds(int k, std::size_t most, std::string_view what) {
  if (k >= 2 && static_cast<std::size_t>(k) <= most) return;
  throw InputError("folds", fmt::format("number of folds is out of range: got {}, need 2 to {}, the number of {}; "
                                        "choose one such as 5",
                                        k, most, what));
}

/// The rows of each group, in order of first appearance.
std::vector<std::vector<std::size_t>> rows_of_groups(const std::vector<int>& codes, const std::vector<Index>& groups) {
  if (groups.size() != codes.size()) {
    throw InputError("folds", fmt::format("groups: got {}, need {}, one for each row", groups.size(), codes.size()));
  }
  std::map<Index, std::size_t> number;
  std::vector<std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto [group, is_new] = number.emplace(groups[i], rows.size());
    if (is_new) rows.emplace_back();
    rows[group->second].push_back(i);
  }
  return rows;
}

std::vector<int> folds_of_rows(const std::vector<std::vector<std::size_t>>& members, const std::vector<int>& fold,
                               std::size_t rows) {
  std::vector<int> folds(rows);
  for (std::size_t group = 0; group < members.size(); ++group) {
    for (const std::size_t row : members[group]) folds[row] = fold[group];
  }
  return folds;
}

/// How many rows of each class the folds have so far.
class FoldBalance {
 public:
  FoldBalance(const std::vector<int>& codes, int k) : codes_(codes), counts_(static_cast<std::size_t>(k)) {
    for (const int code : codes) ++total_[std::max(code, -1)];
  }

  /// Puts a group's rows into the fold that stays nearest to balance, and returns it.
  int add(const std::vector<std::size_t>& rows) {
    std::map<int, double> group;
    for (const std::size_t row : rows) ++group[std::max(codes_[row], -1)];
    // An empty fold costs no more than any other and is the smallest, so that none stays empty.
    std::vector<std::pair<double, double>> costs;
    for (const Fold& fold : counts_) costs.emplace_back(cost(fold, group), fold.rows);
    const auto best = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
    counts_[best].rows += static_cast<double>(rows.size());
    for (const auto& [code, count] : group) counts_[best].of_class[code] += count;
    return static_cast<int>(best);
  }

 private:
  struct Fold {
    double rows = 0;
    std::map<int, double> of_class;
  };

  /// By how much Σ over classes (share − 1/k)² grows: Σ g (2 n + g − 2/k) for shares n of the fold and g of the group.
  [[nodiscard]] double cost(const Fold& fold, const std::map<int, double>& group) const {
    double sum = 0;
    for (const auto& [code, count] : group) {
      const auto found = fold.of_class.find(code);
      const double there = found == fold.of_class.end() ? 0 : found->second / total_.at(code);
      const double added = count / total_.at(code);
      sum += added * (2 * there + (added - 2 / static_cast<double>(counts_.size())));
    }
    return sum;
  }

  const std::vector<int>& codes_;
  std::map<int, double> total_;
  std::vector<Fold> counts_;
};

}  // namespace

Labels strata(const Dataset& data) {
  if (!data.labels.codes.empty()) return data.labels;
  for (const Target& target : data.targets) {
    if (target.kind == TargetKind::classification) return target.labels;
    if (target.kind != TargetKind::survival) continue;
    Labels events{{}, {"censored", "event"}};
    for (Index i = 0; i < target.size(); ++i) {
      events.codes.push_back(target.known(i) ? static_cast<int>(target.values(i, 1)) : -1);
    }
    return events;
  }
  return {};
}

Split stratified_split(const Labels& labels, Index samples, double fraction, Rng rng) {
  check_split(labels, samples, fraction);
  const std::vector<int> one_group(static_cast<std::size_t>(samples), -1);
  Split split;
  // Rounding errors are carried from class to class, so that many small classes don't shift the total.
  double carried = 0;
  for (const auto& [code, members] : shuffled_groups(labels.codes.empty() ? one_group : labels.codes, rng)) {
    const auto size = static_cast<double>(members.size());
    const double wanted = fraction * size + carried;
    const double least = members.size() >= 2 ? 1 : 0;
    const double held = std::clamp(std::round(wanted), least, std::max(size - 1, 0.0));
    carried = std::clamp(wanted - held, -0.5, 0.5);
    const auto border = members.begin() + static_cast<std::ptrdiff_t>(held);
    split.test.insert(split.test.end(), members.begin(), border);
    split.train.insert(split.train.end(), border, members.end());
  }
  std::sort(split.test.begin(), split.test.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

std::vector<int> stratified_folds(const std::vector<int>& codes, int k, Rng rng) {
  check_folds(k, codes.size(), "samples");
  std::vector<int> folds(codes.size());
  int next = 0;  // goes on from class to class, so that the folds are of equal size too
  for (const auto& [code, members] : shuffled_groups(codes, rng)) {
    for (const Index sample : members) {
      folds[static_cast<std::size_t>(sample)] = next;
      next = (next + 1) % k;
    }
  }
  return folds;
}

std::vector<int> grouped_folds(const std::vector<int>& codes, const std::vector<Index>& groups, int k, Rng rng) {
  const std::vector<std::vector<std::size_t>> members = rows_of_groups(codes, groups);
  std::vector<int> code_of_group;
  for (const std::vector<std::size_t>& rows : members) {
    code_of_group.push_back(codes[rows[0]]);
    for (const std::size_t row : rows) {
      if (codes[row] == codes[rows[0]]) continue;
      throw InputError("folds", fmt::format("group {}: got rows of classes {} and {}, need one class", groups[row],
                                            codes[rows[0]], codes[row]));
    }
  }
  return folds_of_rows(members, stratified_folds(code_of_group, k, rng), codes.size());
}

std::vector<int> group_folds(const std::vector<int>& codes, const std::vector<Index>& groups, int k, Rng rng) {
  const std::vector<std::vector<std::size_t>> members = rows_of_groups(codes, groups);
  check_folds(k, members.size(), "groups");
  const auto size_of = [&](Index group) { return members[static_cast<std::size_t>(group)].size(); };
  // Large groups first, but not in the same order every time: repeats are to differ, also where all sizes do.
  Rng draw = rng.split("groups");
  std::vector<double> key;
  for (Index group = 0; group < static_cast<Index>(members.size()); ++group) {
    key.push_back(static_cast<double>(size_of(group)) * (0.6 + 0.8 * draw.uniform()));
  }
  std::vector<Index> order(members.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](Index group) { return key[static_cast<std::size_t>(group)]; });

  FoldBalance balance(codes, k);
  std::vector<int> fold_of_group(members.size());
  for (const Index group : order) {
    fold_of_group[static_cast<std::size_t>(group)] = balance.add(members[static_cast<std::size_t>(group)]);
  }
  return folds_of_rows(members, fold_of_group, codes.size());
}

Split group_split(const std::vector<int>& codes, const std::vector<Index>& groups, double fraction, const Rng& rng) {
  // The best balanced of some draws. Of many it would be the same one for every seed, and repeats of it no repeats.
  constexpr std::uint64_t kDraws = 4, kMostDraws = 20;
  const std::vector<std::vector<std::size_t>> members = rows_of_groups(codes, groups);
  check_folds(2, members.size(), "groups");
  std::map<int, double> total;
  for (const int code : codes) total[code] += 1;
  const double wanted = fraction * static_cast<double>(codes.size());
  double least = std::numeric_limits<double>::infinity();
  std::vector<int> best;
  std::size_t fewest_lost = total.size() + 1;  // classes that are on one side alone
  for (std::uint64_t draw = 0; draw < kDraws || (fewest_lost > 0 && draw < kMostDraws); ++draw) {
    std::vector<int> held_out(codes.size(), 0);
    std::map<int, double> held;
    double rows = 0;
    std::size_t taken = 0;
    for (const Index group : rng.split("groups", draw).permutation(static_cast<Index>(members.size()))) {
      const auto& its_rows = members[static_cast<std::size_t>(group)];
      const double with = rows + static_cast<double>(its_rows.size());
      const bool closer = std::abs(with - wanted) < std::abs(rows - wanted);
      if ((taken > 0 && !closer) || taken + 1 == members.size()) continue;
      for (const std::size_t row : its_rows) {
        held_out[row] = 1;
        held[codes[row]] += 1;
      }
      rows = with;
      ++taken;
    }
    double imbalance = 0;
    std::size_t lost = 0;
    for (const auto& [code, count] : total) {
      imbalance += std::pow(held[code] / count - fraction, 2);
      if (code >= 0 && (held[code] == 0 || held[code] == count)) ++lost;
    }
    if (std::pair(lost, imbalance) >= std::pair(fewest_lost, least)) continue;
    fewest_lost = lost;
    least = imbalance;
    best = held_out;
  }
  Split split;
  for (std::size_t i = 0; i < best.size(); ++i)
    (best[i] != 0 ? split.test : split.train).push_back(static_cast<Index>(i));
  return split;
}

std::vector<int> strata_codes(const Dataset& data) {
  std::vector<int> codes = strata(data).codes;
  if (codes.empty()) codes.assign(static_cast<std::size_t>(data.views.size()), -1);
  return codes;
}

Split held_out_split(const Dataset& data, double fraction, const Rng& rng) {
  if (data.groups.empty()) return stratified_split(strata(data), data.views.size(), fraction, rng);
  if (std::set<Index>(data.groups.begin(), data.groups.end()).size() < 2) {
    throw InputError("groups", fmt::format("got {} samples of one group, need two groups to hold one out; take "
                                           "validation = 0, or leave groups out",
                                           data.views.size()));
  }
  return group_split(strata_codes(data), data.groups, fraction, rng);
}

}  // namespace tocca
