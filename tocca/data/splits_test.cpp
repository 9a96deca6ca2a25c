#include "tocca/data/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using testing::error_message;
using ::testing::HasSubstr;

/// `sizes[c]` samples of class c, mixed; class −1 comes first.
Labels labels_of(const std::vector<int>& sizes_from_unlabelled) {
  Labels labels;
  for (std::size_t c = 0; c < sizes_from_unlabelled.size(); ++c) {
    labels.codes.insert(labels.codes.end(), static_cast<std::size_t>(sizes_from_unlabelled[c]),
                        static_cast<int>(c) - 1);
    if (c > 0) labels.classes.push_back(std::to_string(c - 1));
  }
  std::vector<Index> order = Rng(9).permutation(labels.size());
  Labels mixed = labels.select(order);
  return mixed;
}

std::map<int, int> count_classes(const Labels& labels, const std::vector<Index>& samples) {
  std::map<int, int> counts;
  for (const Index sample : samples) ++counts[labels.codes[static_cast<std::size_t>(sample)]];
  return counts;
}

void expect_partition(const Split& split, Index samples) {
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
  EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
  std::vector<Index> all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(static_cast<Index>(all.size()), samples);
  for (Index i = 0; i < samples; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
}

TEST(StratifiedSplit, HoldsOutTheFractionOfEachClass) {
  const Labels labels = labels_of({40, 100, 20, 60});
  const Split split = stratified_split(labels, labels.size(), 0.25, Rng(1));
  expect_partition(split, labels.size());
  EXPECT_EQ(count_classes(labels, split.test), (std::map<int, int>{{-1, 10}, {0, 25}, {1, 5}, {2, 15}}));
}

TEST(StratifiedSplit, KeepsOneOfEachClassInEachPart) {
  const Labels labels = labels_of({0, 100, 2, 3, 1});
  for (const double fraction : {0.01, 0.2, 0.99}) {
    const Split split = stratified_split(labels, labels.size(), fraction, Rng(1));
    expect_partition(split, labels.size());
    for (const int code : {0, 1, 2}) {
      EXPECT_GE(count_classes(labels, split.test)[code], 1);
      EXPECT_GE(count_classes(labels, split.train)[code], 1);
    }
    EXPECT_EQ(count_classes(labels, split.train)[3], 1);
  }
}

TEST(StratifiedSplit, HoldsTheTotalOverManySmallClasses) {
  const Labels labels = labels_of(std::vector<int>(50, 12));
  const Split split = stratified_split(labels, labels.size(), 0.2, Rng(1));
  EXPECT_NEAR(static_cast<double>(split.test.size()), 120, 1);
}

TEST(StratifiedSplit, WorksWithoutLabels) {
  const Split split = stratified_split({}, 50, 0.2, Rng(1));
  expect_partition(split, 50);
  EXPECT_EQ(split.test.size(), 10U);
}

TEST(StratifiedSplit, DependsOnTheSeedOnly) {
  const Labels labels = labels_of({5, 30, 30});
  const Split split = stratified_split(labels, labels.size(), 0.3, Rng(1));
  EXPECT_EQ(split.test, stratified_split(labels, labels.size(), 0.3, Rng(1)).test);
  EXPECT_NE(split.test, stratified_split(labels, labels.size(), 0.3, Rng(2)).test);
}

TEST(StratifiedSplit, RefusesWhatCannotBeSplit) {
  for (const double fraction : {0.0, 1.0, -0.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(error_message<InputError>([&] { stratified_split({}, 10, fraction, Rng(1)); }),
                HasSubstr("[split] held-out fraction is out of range: got "))
        << fraction;
  }
  EXPECT_THAT(error_message<InputError>([] { stratified_split({}, 1, 0.5, Rng(1)); }),
              HasSubstr("[split] too few samples: got 1, need at least 2"));
  EXPECT_THAT(error_message<InputError>([] {
                stratified_split(labels_of({0, 4}), 5, 0.5, Rng(1));
              }),
              HasSubstr("[split] labels don't match the samples: got 4 labels, need 5"));
}

TEST(StratifiedFolds, SpreadEachClassEvenly) {
  const Labels labels = labels_of({7, 23, 11, 4});
  const std::vector<int> folds = stratified_folds(labels.codes, 5, Rng(1));
  std::map<int, std::vector<int>> counts;
  std::vector<int> sizes(5);
  for (std::size_t i = 0; i < folds.size(); ++i) {
    counts[labels.codes[i]].resize(5);
    ++counts[labels.codes[i]][static_cast<std::size_t>(folds[i])];
    ++sizes[static_cast<std::size_t>(folds[i])];
  }
  counts[100] = sizes;
  for (const auto& [code, in_fold] : counts) {
    const auto [least, most] = std::minmax_element(in_fold.begin(), in_fold.end());
    EXPECT_LE(*most - *least, 1) << code;
  }
  EXPECT_EQ(folds, stratified_folds(labels.codes, 5, Rng(1)));
  EXPECT_NE(folds, stratified_folds(labels.codes, 5, Rng(2)));
}

TEST(StratifiedFolds, RefuseImpossibleCounts) {
  for (const int k : {-1, 1, 4}) {
    EXPECT_THAT(error_message<InputError>([&] {
                  stratified_folds({0, 0, 1}, k, Rng(1));
                }),
                HasSubstr("need 2 to 3, the number of samples"))
        << k;
  }
}

TEST(GroupedFolds, KeepRowsOfASampleTogether) {
  std::vector<int> codes;
  std::vector<Index> groups;
  for (const int copy : {0, 1, 2}) {
    for (int sample = 0; sample < 40; ++sample) {
      if (copy == 2 && sample % 3 == 0) continue;  // some samples have fewer rows
      codes.push_back(sample % 4);
      groups.push_back(100 - sample);
    }
  }
  const std::vector<int> folds = grouped_folds(codes, groups, 5, Rng(3));
  std::map<Index, std::set<int>> of_group;
  std::map<std::pair<int, int>, std::set<Index>> groups_of_class_and_fold;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    of_group[groups[i]].insert(folds[i]);
    groups_of_class_and_fold[{codes[i], folds[i]}].insert(groups[i]);
  }
  for (const auto& [group, in] : of_group) EXPECT_EQ(in.size(), 1U) << group;
  EXPECT_EQ(groups_of_class_and_fold.size(), 20U);
  for (const auto& [where, members] : groups_of_class_and_fold) EXPECT_EQ(members.size(), 2U);
}

TEST(GroupedFolds, RowsOfTheirOwnAreStratifiedFolds) {
  const std::vector<int> codes{0, 1, 0, 1, 0, 1, 0, 1, 1};
  std::vector<Index> groups(codes.size());
  std::iota(groups.begin(), groups.end(), Index{5});
  EXPECT_EQ(grouped_folds(codes, groups, 3, Rng(1)), stratified_folds(codes, 3, Rng(1)));
}

TEST(GroupedFolds, RefuseGroupsOfTwoClasses) {
  EXPECT_EQ(error_message<InputError>([] {
              grouped_folds({0, 1}, {7, 7}, 2, Rng(1));
            }),
            "[folds] group 7: got rows of classes 0 and 1, need one class");
  EXPECT_EQ(error_message<InputError>([] {
              grouped_folds({0, 1}, {7}, 2, Rng(1));
            }),
            "[folds] groups: got 1, need 2, one for each row");
}

/// Patients with 1 to 6 samples, of which some are of class 1 and some unlabelled.
struct Patients {
  std::vector<int> codes;
  std::vector<Index> groups;
};
Patients patients(Index count) {
  Patients some;
  Rng rng(5);
  for (Index patient = 0; patient < count; ++patient) {
    for (Index i = 0; i <= patient % 6; ++i) {
      some.codes.push_back(static_cast<int>(rng.below(3)) - 1);
      some.groups.push_back(1000 - patient);
    }
  }
  return some;
}

TEST(GroupFolds, KeepGroupsTogetherAndClassesEven) {
  const Patients data = patients(60);
  for (const int k : {2, 5}) {
    const std::vector<int> folds = group_folds(data.codes, data.groups, k, Rng(1));
    std::map<Index, std::set<int>> of_group;
    std::map<int, std::map<int, double>> share;  // [class][fold]
    const auto rows = static_cast<double>(folds.size());
    for (std::size_t i = 0; i < folds.size(); ++i) {
      of_group[data.groups[i]].insert(folds[i]);
      share[data.codes[i]][folds[i]] += 1 / static_cast<double>(std::ranges::count(data.codes, data.codes[i]));
      share[100][folds[i]] += 1 / rows;
    }
    for (const auto& [group, in] : of_group) EXPECT_EQ(in.size(), 1U) << group;
    for (const auto& [code, in_fold] : share) {
      ASSERT_EQ(in_fold.size(), static_cast<std::size_t>(k)) << code;
      for (const auto& [fold, part] : in_fold) EXPECT_NEAR(part, 1.0 / k, 0.02) << code;
    }
  }
}

TEST(GroupFolds, LeaveNoFoldEmpty) {
  // The first group has nearly everything of class 0, and the others hardly weigh.
  const std::vector<int> codes{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, -1};
  const std::vector<Index> groups{7, 7, 7, 7, 7, 7, 7, 7, 8, 9, 10};
  for (const int k : {2, 3, 4}) {
    const std::vector<int> folds = group_folds(codes, groups, k, Rng(1));
    EXPECT_EQ(std::set<int>(folds.begin(), folds.end()).size(), static_cast<std::size_t>(k));
  }
}

TEST(GroupFolds, DependOnTheSeedOnly) {
  const Patients data = patients(30);
  const std::vector<int> folds = group_folds(data.codes, data.groups, 3, Rng(1));
  EXPECT_EQ(folds, group_folds(data.codes, data.groups, 3, Rng(1)));
  EXPECT_NE(folds, group_folds(data.codes, data.groups, 3, Rng(2)));
}

TEST(GroupFolds, RefuseImpossibleCounts) {
  for (const int k : {-1, 1, 3}) {
    EXPECT_THAT(error_message<InputError>([&] {
                  group_folds({0, 1, 1, 0}, {5, 5, 6, 6}, k, Rng(1));
                }),
                HasSubstr("[folds] number of folds is out of range: got " + std::to_string(k) +
                          ", need 2 to 2, the number of groups; choose"));
  }
  EXPECT_EQ(error_message<InputError>([] {
              group_folds({0, 1}, {7}, 2, Rng(1));
            }),
            "[folds] groups: got 1, need 2, one for each row");
}

// A class of two equal groups: holding out either is farther from a fifth of it than holding out neither.
TEST(GroupSplit, LeavesClassesOnBothSidesWhereItCan) {
  std::vector<int> codes;
  std::vector<Index> groups;
  for (Index i = 0; i < 40; ++i) {
    codes.push_back(1);
    groups.push_back(i / 20);
  }
  for (Index i = 0; i < 80; ++i) {
    codes.push_back(0);
    groups.push_back(2 + i / 2);
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Split split = group_split(codes, groups, 0.2, Rng(seed));
    const auto of_class = std::count_if(split.test.begin(), split.test.end(),
                                        [&](Index i) { return codes[static_cast<std::size_t>(i)] == 1; });
    EXPECT_EQ(of_class, 20) << seed;
  }
}

}  // namespace
}  // namespace tocca
