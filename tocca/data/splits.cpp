#include "tocca/data/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
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

}  // namespace

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
  if (k < 2 || static_cast<std::size_t>(k) > codes.size()) {
    throw InputError("folds",
                     fmt::format("number of folds is out of range: got {}, need 2 to {}, the number of samples; "
                                 "choose one such as 5",
                                 k, codes.size()));
  }
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
  if (groups.size() != codes.size()) {
    throw InputError("folds", fmt::format("groups: got {}, need {}, one for each row", groups.size(), codes.size()));
  }
  std::map<Index, std::size_t> number;  // of a group, in order of first appearance
  std::vector<int> code_of_group;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto [group, is_new] = number.emplace(groups[i], number.size());
    if (is_new) code_of_group.push_back(codes[i]);
    if (code_of_group[group->second] == codes[i]) continue;
    throw InputError("folds", fmt::format("group {}: got rows of classes {} and {}, need one class", groups[i],
                                          code_of_group[group->second], codes[i]));
  }
  const std::vector<int> fold_of_group = stratified_folds(code_of_group, k, rng);
  std::vector<int> folds;
  for (const Index group : groups) folds.push_back(fold_of_group[number.at(group)]);
  return folds;
}

}  // namespace tocca
