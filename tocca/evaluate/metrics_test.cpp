#include "tocca/evaluate/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tocca/core/error.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Classes = std::vector<int>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Class 0: 2 of 3 right; class 1: 1 of 2; class 2: 0 of 1; two samples unlabelled.
const Classes kTruth = {0, 0, 0, 1, 1, 2, -1, -1};
const Classes kPredicted = {0, 0, 1, 1, 0, 1, 2, 0};

TEST(Metrics, Accuracy) { EXPECT_DOUBLE_EQ(accuracy(kPredicted, kTruth), 3.0 / 6); }

TEST(Metrics, BalancedAccuracyWeighsClassesAlike) {
  EXPECT_DOUBLE_EQ(balanced_accuracy(kPredicted, kTruth), (2.0 / 3 + 1.0 / 2 + 0) / 3);
}

TEST(Metrics, MacroF1) {
  // 2 right / (true + predicted): class 0: 4 / (3 + 3); class 1: 2 / (2 + 3); class 2: 0 / (1 + 0).
  EXPECT_DOUBLE_EQ(macro_f1(kPredicted, kTruth), (4.0 / 6 + 2.0 / 5 + 0) / 3);
  // Class 1 occurs in the prediction only, and counts; class 3 occurs nowhere and does not.
  EXPECT_DOUBLE_EQ(macro_f1(Classes{0, 1, 4}, Classes{0, 0, 4}), (2.0 / 3 + 0 + 1) / 3);
}

TEST(Metrics, NoAnswerIsWrong) {
  EXPECT_DOUBLE_EQ(accuracy(Classes{0, -1}, Classes{0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(balanced_accuracy(Classes{0, -1}, Classes{0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(macro_f1(Classes{0, -1}, Classes{0, 0}), 2.0 / 3);
}

TEST(Metrics, NothingLabelledIsNotANumber) {
  for (const Classes& truth : {Classes{}, Classes{-1, -1}}) {
    const Classes predicted(truth.size(), 1);
    EXPECT_TRUE(std::isnan(accuracy(predicted, truth)));
    EXPECT_TRUE(std::isnan(balanced_accuracy(predicted, truth)));
    EXPECT_TRUE(std::isnan(macro_f1(predicted, truth)));
  }
}

TEST(Metrics, MeanAndStandardError) {
  const MeanAndError all = mean_and_standard_error(std::vector<double>{1, 2, kNaN, 3, 6});
  EXPECT_DOUBLE_EQ(all.mean, 3);
  EXPECT_DOUBLE_EQ(all.standard_error, std::sqrt(14.0 / 3) / 2);
  EXPECT_EQ(all.count, 4);
  const MeanAndError one = mean_and_standard_error(std::vector<double>{kNaN, 5});
  EXPECT_EQ(one.mean, 5);
  EXPECT_TRUE(std::isnan(one.standard_error));
  EXPECT_EQ(one.count, 1);
  const MeanAndError none = mean_and_standard_error({});
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_TRUE(std::isnan(none.standard_error));
  EXPECT_EQ(none.count, 0);
}

TEST(Metrics, RefuseBadInput) {
  EXPECT_THAT(
      [] {
        accuracy(Classes{1}, Classes{1, 2});
      },
      ThrowsMessage<InputError>(
          StrEq("[accuracy] number of predictions: got 1, need 2; pass one for each true label")));
  EXPECT_THROW(balanced_accuracy(Classes{1}, Classes{}), InputError);
  EXPECT_THROW(macro_f1(Classes{1}, Classes{}), InputError);
}

}  // namespace
}  // namespace tocca
