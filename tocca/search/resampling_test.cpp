#include "tocca/search/resampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_shared;

void expect_partition(const Split& split, Index n) {
  std::set<Index> all(split.train.begin(), split.train.end());
  all.insert(split.test.begin(), split.test.end());
  EXPECT_EQ(static_cast<Index>(all.size()), n);
  EXPECT_EQ(static_cast<Index>(split.train.size() + split.test.size()), n);
  EXPECT_FALSE(split.train.empty() || split.test.empty());
}

TEST(Resampling, FoldsHoldOutEverySampleOnceARepeat) {
  const Dataset data = make_shared(53, 3, 0.3, 1);
  const std::vector<Split> splits = resample(data, {.folds = 5, .repeats = 2}, Rng(1));
  ASSERT_EQ(splits.size(), 10U);
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::multiset<Index> held_out;
    for (int fold = 0; fold < 5; ++fold) {
      const Split& split = splits[static_cast<std::size_t>(5 * repeat + fold)];
      expect_partition(split, 53);
      held_out.insert(split.test.begin(), split.test.end());
    }
    EXPECT_EQ(held_out.size(), 53U);
    EXPECT_EQ(std::set<Index>(held_out.begin(), held_out.end()).size(), 53U);
  }
  EXPECT_NE(splits[0].test, splits[5].test);
  EXPECT_EQ(resample(data, {.folds = 5, .repeats = 2}, Rng(1))[7].test, splits[7].test);
}

TEST(Resampling, MoreRandomSplitsLeaveTheFirstAsTheyWere) {
  const Dataset data = make_shared(40, 3, 0.3, 1);
  const auto few = resample(data, {.repeats = 2, .held_out = 0.3}, Rng(5));
  const auto more = resample(data, {.repeats = 4, .held_out = 0.3}, Rng(5));
  for (std::size_t s = 0; s < few.size(); ++s) {
    EXPECT_EQ(few[s].test, more[s].test);
    expect_partition(few[s], 40);
    EXPECT_EQ(few[s].test.size(), 12U);
  }
}

TEST(Resampling, GroupsStayTogether) {
  Dataset data = make_shared(60, 3, 0.3, 1);
  std::vector<Index>& groups = data.groups;
  for (Index i = 0; i < 60; ++i) groups.push_back(i % 11);
  for (const Resampling& how : {Resampling{.folds = 4}, Resampling{.repeats = 3, .held_out = 0.25}}) {
    for (const Split& split : resample(data, how, Rng(2))) {
      expect_partition(split, 60);
      std::set<Index> train;
      for (const Index i : split.train) train.insert(groups[static_cast<std::size_t>(i)]);
      for (const Index i : split.test) EXPECT_FALSE(train.contains(groups[static_cast<std::size_t>(i)]));
    }
  }
}

// Groups of all sizes: which are held out is still drawn anew each time, and about as much as asked for.
TEST(Resampling, RepeatsWithGroupsOfUnequalSizeDiffer) {
  Dataset data = make_shared(90, 3, 0.3, 1);
  std::vector<Index>& groups = data.groups;
  for (Index g = 0; static_cast<Index>(groups.size()) < 90; ++g) {
    groups.insert(groups.end(),
                  static_cast<std::size_t>(std::min<Index>(g + 2, 90 - static_cast<Index>(groups.size()))), g);
  }
  for (const Resampling& how : {Resampling{.folds = 3, .repeats = 6}, Resampling{.repeats = 6, .held_out = 0.4}}) {
    std::set<std::vector<Index>> held_out;
    for (const Split& split : resample(data, how, Rng(2))) {
      held_out.insert(split.test);
      EXPECT_NEAR(static_cast<double>(split.test.size()) / 90, how.folds > 0 ? 1.0 / 3 : 0.4, 0.12);
    }
    EXPECT_GE(held_out.size(), 5U);
  }
}

// Groups of very unequal size, so that only some cuts come near the share asked for: all the same no split comes twice.
TEST(Resampling, FewGroupsGiveDifferentSplitsOrNone) {
  Dataset data = make_shared(120, 3, 0.3, 1);
  for (const Index count : {3, 4, 6, 10}) {
    data.groups.clear();
    for (Index i = 0; i < 120; ++i) data.groups.push_back(std::min(i * i * count / (120 * 120), count - 1));
    Index most = 0;
    for (Index repeats = 1; repeats <= 8; ++repeats) {
      std::set<std::vector<Index>> held_out;
      try {
        for (const Split& split : resample(data, {.repeats = repeats, .held_out = 0.25}, Rng(3))) {
          held_out.insert(split.test);
        }
        EXPECT_EQ(static_cast<Index>(held_out.size()), repeats) << count;
        most = repeats;
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("ask for fewer")) << count;
        EXPECT_LT(count, 10);
        break;
      }
    }
    EXPECT_GE(most, 2) << count;
  }
  data.groups.assign(120, 0);
  for (Index i = 0; i < 120; ++i) data.groups[static_cast<std::size_t>(i)] = i / 40;
  EXPECT_EQ(resample(data, {.folds = 3}, Rng(1)).size(), 3U);
  EXPECT_THAT(error_message<InputError>([&] { resample(data, {.folds = 3, .repeats = 2}, Rng(1)); }),
              HasSubstr("repeats: got 2, but only 1 that differ were found of these groups"));
}

TEST(Resampling, RefusesWhatCannotBeCut) {
  Dataset data = make_shared(10, 3, 0.3, 1);
  const auto message = [&](const Resampling& how) {
    return error_message<InputError>([&] { resample(data, how, Rng(1)); });
  };
  EXPECT_THAT(message({.folds = 1}), HasSubstr("folds: got 1"));
  EXPECT_THAT(message({.folds = 11}), HasSubstr("at most 10, the number of samples"));
  EXPECT_THAT(message({.held_out = 0}), HasSubstr("held-out share: got 0"));
  EXPECT_THAT(message({.repeats = 0}), HasSubstr("repeats: got 0"));
  data.groups = {1, 2};
  EXPECT_THAT(message({.folds = 3}), HasSubstr("groups: got 2, need 10"));
  data.groups.assign(10, 4);
  EXPECT_THAT(message({.folds = 3}), HasSubstr("groups: got 1"));
}

}  // namespace
}  // namespace tocca
