#include "tocca/metrics/classification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tocca/core/error.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Classes = std::vector<int>;

// Class 0: 2 of 3 right; class 1: 1 of 2; class 2: 0 of 1; two samples unlabelled.
const Classes kTruth = {0, 0, 0, 1, 1, 2, -1, -1};
const Classes kPredicted = {0, 0, 1, 1, 0, 1, 2, 0};

TEST(Classification, Accuracy) { EXPECT_DOUBLE_EQ(accuracy(kPredicted, kTruth), 3.0 / 6); }

TEST(Classification, BalancedAccuracyWeighsClassesAlike) {
  EXPECT_DOUBLE_EQ(balanced_accuracy(kPredicted, kTruth), (2.0 / 3 + 1.0 / 2 + 0) / 3);
  // Class 7 occurs in the prediction only, and has no share to be right about.
  EXPECT_DOUBLE_EQ(balanced_accuracy(Classes{0, 7}, Classes{0, 0}), 0.5);
}

TEST(Classification, MacroF1) {
  // 2 right / (true + predicted): class 0: 4 / (3 + 3); class 1: 2 / (2 + 3); class 2: 0 / (1 + 0).
  EXPECT_DOUBLE_EQ(macro_f1(kPredicted, kTruth), (4.0 / 6 + 2.0 / 5 + 0) / 3);
  // Class 1 occurs in the prediction only, and counts; class 3 occurs nowhere and does not.
  EXPECT_DOUBLE_EQ(macro_f1(Classes{0, 1, 4}, Classes{0, 0, 4}), (2.0 / 3 + 0 + 1) / 3);
}

TEST(Classification, NoAnswerIsWrong) {
  EXPECT_DOUBLE_EQ(accuracy(Classes{0, -1}, Classes{0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(balanced_accuracy(Classes{0, -1}, Classes{0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(macro_f1(Classes{0, -1}, Classes{0, 0}), 2.0 / 3);
}

TEST(Classification, NothingLabelledIsNotANumber) {
  for (const Classes& truth : {Classes{}, Classes{-1, -1}}) {
    const Classes predicted(truth.size(), 1);
    EXPECT_TRUE(std::isnan(accuracy(predicted, truth)));
    EXPECT_TRUE(std::isnan(balanced_accuracy(predicted, truth)));
    EXPECT_TRUE(std::isnan(macro_f1(predicted, truth)));
  }
}

TEST(Classification, RefusesBadInput) {
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
