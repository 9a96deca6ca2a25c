#include "tocca/metrics/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/testing/golden.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Numbers = std::vector<double>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RegressionMetrics, GoldenValues) {
  const testing::Golden golden("regression", "metrics_reference.json");
  const auto truth = golden.get<Numbers>("truth");
  for (const testing::Golden& fit : golden.list("fits")) {
    const auto predicted = fit.get<Numbers>("predicted");
    EXPECT_NEAR(r_squared(predicted, truth), fit.number("r_squared"), 1e-12);
    EXPECT_NEAR(root_mean_squared_error(predicted, truth), fit.number("root_mean_squared_error"), 1e-12);
  }
}

TEST(RegressionMetrics, ByHand) {
  // Mean 3, scatter 4 + 1 + 9 = 14; errors 1, 0, −2 with squares that sum to 5.
  EXPECT_DOUBLE_EQ(r_squared(Numbers{2, 2, 4}, Numbers{1, 2, 6}), 1 - 5.0 / 14);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(Numbers{2, 2, 4}, Numbers{1, 2, 6}), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(r_squared(Numbers{3, 3, 3}, Numbers{1, 2, 6}), 0);
  EXPECT_DOUBLE_EQ(r_squared(Numbers{1, 2, 6}, Numbers{1, 2, 6}), 1);
}

TEST(RegressionMetrics, MissingTruthsAreLeftOut) {
  const Numbers predicted = {2, 100, 2, kNaN, 4}, truth = {1, kNaN, 2, kNaN, 6};
  EXPECT_DOUBLE_EQ(r_squared(predicted, truth), 1 - 5.0 / 14);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(predicted, truth), std::sqrt(5.0 / 3));
}

TEST(RegressionMetrics, NotANumberWhereThereIsNothingToExplain) {
  EXPECT_TRUE(std::isnan(r_squared({}, {})));
  EXPECT_TRUE(std::isnan(r_squared(Numbers{1, 2}, Numbers{1, kNaN})));
  // 0.1 + 0.1 + 0.1 is not 3 · 0.1 in floating point.
  EXPECT_TRUE(std::isnan(r_squared(Numbers{1, 2, 3}, Numbers{0.1, 0.1, 0.1})));
  EXPECT_TRUE(std::isnan(root_mean_squared_error(Numbers{1}, Numbers{kNaN})));
  EXPECT_DOUBLE_EQ(root_mean_squared_error(Numbers{1, 2}, Numbers{4, kNaN}), 3);
}

TEST(RegressionMetrics, ShiftAndScaleOfBothDoNotMatterToRSquared) {
  const Numbers predicted = {0.5, -1, 2.5, 3}, truth = {0, -2, 2, 4};
  Numbers moved_predicted, moved_truth;
  for (const double value : predicted) moved_predicted.push_back(1e6 - 3 * value);
  for (const double value : truth) moved_truth.push_back(1e6 - 3 * value);
  EXPECT_NEAR(r_squared(moved_predicted, moved_truth), r_squared(predicted, truth), 1e-9);
  EXPECT_NEAR(root_mean_squared_error(moved_predicted, moved_truth), 3 * root_mean_squared_error(predicted, truth),
              1e-9);
}

TEST(RegressionMetrics, RefuseBadInput) {
  EXPECT_THAT(
      [] {
        r_squared(Numbers{1}, Numbers{1, 2});
      },
      ThrowsMessage<InputError>(
          StrEq("[r_squared] number of predictions: got 1, need 2; pass one for each true value")));
  EXPECT_THAT(
      [] {
        root_mean_squared_error(Numbers{1, kNaN}, Numbers{1, 2});
      },
      ThrowsMessage<InputError>(
          StrEq("[root_mean_squared_error] prediction of sample 1 (counted from 0): got nan, need a number; "
                "check the training, or mark the sample as missing")));
  EXPECT_THAT(
      [] {
        r_squared(Numbers{1, 2}, Numbers{1, kInfinity});
      },
      ThrowsMessage<InputError>(StrEq("[r_squared] truth of sample 1 (counted from 0): got inf, need a finite "
                                      "number, or NaN for a missing one; check the data")));
}

}  // namespace
}  // namespace tocca
