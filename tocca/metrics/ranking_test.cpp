#include "tocca/metrics/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/golden.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Numbers = std::vector<double>;
using Flags = std::vector<int>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(RankingMetrics, GoldenValues) {
  for (const char* name : {"ranking_distinct", "ranking_tied"}) {
    const testing::Golden golden(name, "metrics_reference.json");
    const auto scores = golden.get<Numbers>("scores");
    const auto flags = golden.integers("flags");
    EXPECT_NEAR(area_under_roc(scores, flags), golden.number("area_under_roc"), 1e-14) << name;
    EXPECT_NEAR(average_precision(scores, flags), golden.number("average_precision"), 1e-14) << name;
  }
}

TEST(RankingMetrics, GoldenValuesOfSeveralProperties) {
  const testing::Golden golden("ranking_multilabel", "metrics_reference.json");
  const Matrix<double> scores = golden.matrix("scores"), targets = golden.matrix("targets");
  EXPECT_NEAR(macro_area_under_roc(scores, targets), golden.number("area_under_roc"), 1e-14);
  EXPECT_NEAR(macro_average_precision(scores, targets), golden.number("average_precision"), 1e-14);
}

TEST(RankingMetrics, ByHand) {
  // Of the 2 · 3 pairs: 9 is above all three; 5 is above 1, ties with 5, is below 7.
  const Numbers scores = {9, 7, 5, 5, 1};
  const Flags flags = {1, 0, 1, 0, 0};
  EXPECT_DOUBLE_EQ(area_under_roc(scores, flags), 4.5 / 6);
  // Recall ½ at precision 1/1; the other ½ at precision 2/4, as the two fives come in together.
  EXPECT_DOUBLE_EQ(average_precision(scores, flags), 0.5 * 1 + 0.5 * 2 / 4);
}

TEST(RankingMetrics, MissingFlagsAreLeftOut) {
  const Numbers scores = {kNaN, 9, 7, 8, 5, 5, 1};
  const Flags flags = {-1, 1, 0, -1, 1, 0, 0};
  EXPECT_DOUBLE_EQ(area_under_roc(scores, flags), 4.5 / 6);
  EXPECT_DOUBLE_EQ(average_precision(scores, flags), 0.75);
}

TEST(RankingMetrics, OnlyTheOrderOfScoresMatters) {
  Rng rng(5);
  Numbers scores, other;
  Flags flags;
  for (int i = 0; i < 200; ++i) {
    scores.push_back(std::floor(4 * rng.normal()));
    other.push_back(std::atan(scores.back() / 10));
    flags.push_back(rng.normal() + scores.back() / 8 > 0 ? 1 : 0);
  }
  EXPECT_EQ(area_under_roc(other, flags), area_under_roc(scores, flags));
  EXPECT_EQ(average_precision(other, flags), average_precision(scores, flags));
  for (double& score : other) score = -score;
  EXPECT_DOUBLE_EQ(area_under_roc(other, flags), 1 - area_under_roc(scores, flags));
  // Nor does the order of the samples.
  const double area = area_under_roc(scores, flags), precision = average_precision(scores, flags);
  std::reverse(scores.begin(), scores.end());
  std::reverse(flags.begin(), flags.end());
  EXPECT_EQ(area_under_roc(scores, flags), area);
  EXPECT_EQ(average_precision(scores, flags), precision);
}

TEST(RankingMetrics, OneKindOnly) {
  const Numbers scores = {1, 2};
  for (const Flags& flags : {Flags{1, 1}, Flags{0, 0}, Flags{1, -1}, Flags{-1, -1}})
    EXPECT_TRUE(std::isnan(area_under_roc(scores, flags)));
  EXPECT_TRUE(std::isnan(average_precision(scores, Flags{0, 0})));
  EXPECT_TRUE(std::isnan(average_precision({}, {})));
  EXPECT_EQ(average_precision(scores, Flags{1, 1}), 1);
}

TEST(RankingMetrics, MacroMeansLeaveOutPropertiesOfOneKind) {
  Matrix<double> scores(3, 3), targets(3, 3);
  scores << 3, 1, 1, 2, 2, 2, 1, 3, kNaN;
  targets << 1, 0, 0, 0, 0, 1, 1, 0, kNaN;
  EXPECT_DOUBLE_EQ(macro_area_under_roc(scores, targets), (0.5 + 1) / 2);
  EXPECT_DOUBLE_EQ(macro_average_precision(scores, targets), ((0.5 + 0.5 * 2 / 3) + 1) / 2);
  EXPECT_TRUE(std::isnan(macro_area_under_roc(scores.col(1), targets.col(1))));
  EXPECT_TRUE(std::isnan(macro_average_precision(Matrix<double>(4, 0), Matrix<double>(4, 0))));
}

TEST(RankingMetrics, RefuseBadInput) {
  EXPECT_THAT(
      [] {
        area_under_roc(Numbers{1, kNaN}, Flags{0, 1});
      },
      ThrowsMessage<InputError>(
          StrEq("[area_under_roc] score of sample 1 (counted from 0): got nan, need a number; check the "
                "training, or mark the sample as missing")));
  EXPECT_THAT(
      [] {
        average_precision(Numbers{1, 2}, Flags{0, 3});
      },
      ThrowsMessage<InputError>(StrEq("[average_precision] flag of sample 1 (counted from 0): got 3, need 1 "
                                      "(yes), 0 (no) or -1 (missing); recode it")));
  EXPECT_THAT(
      [] {
        average_precision(Numbers{1, 2}, Flags{0});
      },
      ThrowsMessage<InputError>(StrEq("[average_precision] number of scores: got 2, need 1; pass one for each flag")));
  EXPECT_THAT(
      [] { macro_area_under_roc(Matrix<double>::Zero(2, 2), Matrix<double>::Constant(2, 2, 0.5)); },
      ThrowsMessage<InputError>(StrEq("[macro_area_under_roc] target of sample 0, property 0 (counted from 0): got "
                                      "0.5, need 1, 0, or NaN for a missing one; recode it")));
  EXPECT_THROW(macro_average_precision(Matrix<double>(2, 2), Matrix<double>(2, 3)), InputError);
}

}  // namespace
}  // namespace tocca
