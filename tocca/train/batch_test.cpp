#include "tocca/train/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tocca {
namespace {

TEST(CutBatches, EverySampleOnceAndNoRemainderTooSmall) {
  for (const Index n : {1, 5, 31, 32, 33, 64, 65, 66}) {
    for (const Index least : {2, 6}) {
      const auto batches = cut_batches(n, 32, least, Rng(4));
      std::vector<Index> seen;
      for (const auto& batch : batches) {
        EXPECT_TRUE(n < least || static_cast<Index>(batch.size()) >= least) << n;
        seen.insert(seen.end(), batch.begin(), batch.end());
      }
      std::sort(seen.begin(), seen.end());
      ASSERT_EQ(static_cast<Index>(seen.size()), n);
      for (Index i = 0; i < n; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
    }
  }
  EXPECT_EQ(cut_batches(65, 32, 2, Rng(4)).size(), 2U);
  EXPECT_EQ(cut_batches(66, 32, 2, Rng(4)).size(), 3U);
}

TEST(CutBatches, OrderComesFromTheGeneratorAlone) {
  EXPECT_EQ(cut_batches(40, 8, 2, Rng(1)), cut_batches(40, 8, 2, Rng(1)));
  EXPECT_NE(cut_batches(40, 8, 2, Rng(1)), cut_batches(40, 8, 2, Rng(2)));
}

TEST(MakeBatch, LeavesOutAViewWithTooFewRows) {
  Dataset data;
  data.views.samples = {"a", "b", "c"};
  data.views.views.resize(2);
  data.views.views[0].row_of_sample = {0, 1, 2};
  data.views.views[1].row_of_sample = {-1, 0, -1};
  data.labels.codes = {0, -1, 1};
  const std::vector<Index> all{2, 1, 0};
  const Batch batch = make_batch(data, all);
  EXPECT_EQ(batch.samples[0], all);
  EXPECT_EQ(batch.labels[0].codes, (std::vector<int>{1, -1, 0}));
  EXPECT_TRUE(batch.samples[1].empty());
  EXPECT_EQ(batch.row_of[1], (std::vector<Index>{-1, -1, -1}));
  EXPECT_EQ(make_batch(data, all, {.least_rows = 1}).row_of[1], (std::vector<Index>{-1, 0, -1}));
}

// Two views; sample i has view v where present[v][i].
Dataset gappy(const std::vector<std::vector<int>>& present, std::vector<int> codes) {
  Dataset data;
  data.views.samples.resize(codes.size());
  for (const auto& mask : present) {
    View view;
    Index rows = 0;
    for (const int there : mask) view.row_of_sample.push_back(there != 0 ? rows++ : -1);
    data.views.views.push_back(view);
  }
  data.labels = {std::move(codes), {"a", "b"}};
  return data;
}

std::vector<Index> count_up(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

TEST(CutStratifiedBatches, SpreadEveryClassAndTheUnlabelledEvenly) {
  std::vector<int> codes(100, -1);
  for (std::size_t i = 0; i < 20; ++i) codes[i] = i < 10 ? 0 : 1;
  const auto batches = cut_stratified_batches(codes, 20, 2, Rng(5));
  ASSERT_EQ(batches.size(), 5U);
  std::vector<Index> seen;
  for (const auto& batch : batches) {
    for (const int code : {0, 1}) {
      const auto count = std::count_if(batch.begin(), batch.end(),
                                       [&](Index i) { return codes[static_cast<std::size_t>(i)] == code; });
      EXPECT_NEAR(static_cast<double>(count), 2, 1);
    }
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, count_up(100));
  EXPECT_NE(cut_stratified_batches(codes, 20, 2, Rng(5)), cut_stratified_batches(codes, 20, 2, Rng(6)));
}

TEST(MakeBatch, DropsViewsAtTheRateButNeverTheLast) {
  const Dataset data = gappy({std::vector<int>(4000, 1), std::vector<int>(4000, 1)}, std::vector<int>(4000, 0));
  const Batch batch = make_batch(data, count_up(4000), {.view_dropout = 0.4}, Rng(1));
  for (std::size_t i = 0; i < 4000; ++i) EXPECT_TRUE(batch.row_of[0][i] >= 0 || batch.row_of[1][i] >= 0);
  // One view is saved, the other stays with probability 0.6; four standard errors.
  const double share = static_cast<double>(batch.samples[0].size() + batch.samples[1].size()) / 8000;
  EXPECT_NEAR(share, 0.8, 4 * std::sqrt(0.6 * 0.4 / 4000) / 2);
  EXPECT_NEAR(static_cast<double>(batch.samples[0].size()), static_cast<double>(batch.samples[1].size()), 200);
}

TEST(MakeBatch, MixesLabelledSamplesWithTheSameViewsAlone) {
  std::vector<int> codes(40, 0);
  std::vector<std::vector<int>> present(2, std::vector<int>(40, 1));
  for (std::size_t i = 0; i < 40; ++i) {
    if (i % 4 == 0) codes[i] = -1;
    if (i % 3 == 0) present[1][i] = 0;
  }
  const Dataset data = gappy(present, codes);
  const std::vector<Index> all = count_up(40);
  const Batch batch = make_batch(data, all, {.mixup = 0.4}, Rng(2));
  EXPECT_GT(batch.own_share, 0);
  EXPECT_LT(batch.own_share, 1);
  int mixed = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t v = 0; v < 2; ++v) {
      const Index row = batch.row_of[v][i];
      if (row < 0) continue;
      const Index partner = batch.samples[v][static_cast<std::size_t>(batch.partner[v][static_cast<std::size_t>(row)])];
      const auto p = static_cast<std::size_t>(partner);
      if (codes[i] < 0) {
        EXPECT_EQ(p, i);
      }
      EXPECT_EQ(codes[p] < 0, codes[i] < 0);
      EXPECT_EQ(present[1][p], present[1][i]);
      mixed += p != i ? 1 : 0;
    }
  }
  EXPECT_GT(mixed, 20);
}

TEST(MakeBatch, SharesOfMixupAreBeta) {
  const Dataset data = gappy({{1, 1}}, {0, 1});
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 4000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double share = make_batch(data, count_up(2), {.mixup = 0.3}, Rng(i)).own_share;
    sum += share;
    squares += share * share;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5, 0.03);
  EXPECT_NEAR(squares / kDraws - mean * mean, 0.25 / (2 * 0.3 + 1), 0.01);  // variance of Beta(α, α)
}

TEST(MakeBatch, CarriesTargetsOfEachViewsRows) {
  Dataset data = gappy({{1, 1, 1}, {1, 0, 1}}, {0, 1, -1});
  Target target{TargetKind::regression, {"age"}, {}, Matrix<double>(3, 1)};
  target.values << 1, 2, 3;
  data.targets.push_back(target);
  const Batch batch = make_batch(data, std::vector<Index>{2, 1, 0});
  EXPECT_EQ(batch.known(1, 0).values, (Matrix<double>(2, 1) << 3, 1).finished());
  EXPECT_EQ(batch.known(1, -1).codes, (std::vector<int>{-1, 0}));
}

}  // namespace
}  // namespace tocca
