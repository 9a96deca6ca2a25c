#include "tocca/train/batch.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  EXPECT_EQ(batch.labels[0], (std::vector<int>{1, -1, 0}));
  EXPECT_TRUE(batch.samples[1].empty());
  EXPECT_EQ(batch.row_of[1], (std::vector<Index>{-1, -1, -1}));
  EXPECT_EQ(make_batch(data, all, 1).row_of[1], (std::vector<Index>{-1, 0, -1}));
}

}  // namespace
}  // namespace tocca
