#include "tocca/search/resampling.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <string>

#include "tocca/core/error.h"
#include "tocca/data/fingerprint.h"

namespace tocca {
namespace {

void check(const Dataset& data, const Resampling& how) {
  const auto refuse = [](const char* what, const auto& got, const std::string& need) {
    throw InputError("resampling", fmt::format("{}: got {}, need {}", what, got, need));
  };
  const auto n = data.views.size();
  if (how.repeats < 1) refuse("repeats", how.repeats, "1 or more");
  if (how.folds < 0 || how.folds == 1) refuse("folds", how.folds, "2 or more, or 0 for random splits");
  if (how.folds == 0 && !(how.held_out > 0 && how.held_out < 1)) {
    refuse("held-out share", how.held_out, "more than 0 and less than 1");
  }
  const std::vector<Index>& groups = data.groups;
  if (!groups.empty() && static_cast<Index>(groups.size()) != n) {
    refuse("groups", groups.size(), fmt::format("{}, one for each sample", n));
  }
  const auto units = groups.empty() ? n : static_cast<Index>(std::set<Index>(groups.begin(), groups.end()).size());
  const char* const of = groups.empty() ? "samples" : "groups";
  if (units < 2) refuse(of, units, "at least 2 to split");
  if (how.folds > units) refuse("folds", how.folds, fmt::format("at most {}, the number of {}", units, of));
}

Split split_at(const std::vector<int>& folds, int fold) {
  Split split;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    (folds[i] == fold ? split.test : split.train).push_back(static_cast<Index>(i));
  }
  return split;
}

// One repeat: all folds, or one random split.
std::vector<Split> draw(const Dataset& data, const Resampling& how, const Rng& rng) {
  if (how.folds == 0) return {held_out_split(data, how.held_out, rng)};
  const int k = static_cast<int>(how.folds);
  const std::vector<int> codes = strata_codes(data);
  const std::vector<int> folds =
      data.groups.empty() ? stratified_folds(codes, k, rng) : group_folds(codes, data.groups, k, rng);
  std::vector<Split> splits;
  for (int fold = 0; fold < k; ++fold) splits.push_back(split_at(folds, fold));
  return splits;
}

// The same for the same held-out parts, in whatever order.
std::string print_of(const std::vector<Split>& splits) {
  std::set<std::vector<Index>> parts;
  for (const Split& split : splits) parts.insert(split.test);
  Fingerprint print;
  for (const std::vector<Index>& part : parts) print.add_numbers(part);
  return print.text();
}

}  // namespace

std::string Resampling::text() const {
  if (folds > 0) {
    return fmt::format("{}-fold cross-validation{}", folds, repeats > 1 ? fmt::format(", {} times", repeats) : "");
  }
  return fmt::format("{} random split{}, {} held out", repeats, repeats > 1 ? "s" : "", held_out);
}

std::vector<Split> resample(const Dataset& data, const Resampling& how, const Rng& rng) {
  constexpr std::uint64_t kTries = 50;
  check(data, how);
  std::vector<Split> splits;
  std::set<std::string> seen;
  for (Index repeat = 0; repeat < how.repeats; ++repeat) {
    const Rng own = rng.split("repeat", static_cast<std::uint64_t>(repeat));
    std::vector<Split> drawn = draw(data, how, own);
    for (std::uint64_t again = 0; again < kTries && seen.contains(print_of(drawn)); ++again) {
      drawn = draw(data, how, own.split("again", again));
    }
    if (!seen.insert(print_of(drawn)).second) {
      throw InputError(
          "resampling",
          fmt::format("repeats: got {}, but only {} that differ were found of these {}, and the same split "
                      "twice would count as two that agree; ask for fewer",
                      how.repeats, repeat, data.groups.empty() ? "samples" : "groups"));
    }
    splits.insert(splits.end(), std::make_move_iterator(drawn.begin()), std::make_move_iterator(drawn.end()));
  }
  return splits;
}

}  // namespace tocca
