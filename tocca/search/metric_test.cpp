#include "tocca/search/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;

const Views& views() {
  static const Views two = tocca::testing::make_shared(10, 3, 0.3, 1).views;
  return two;
}

std::vector<Score> scores() {
  return {{"all", "left", "accuracy", 0.5, 10, {}},   {"all", "right", "accuracy", 0.7, 10, {}},
          {"all", "all", "accuracy", 0.9, 10, {}},    {"all", "left", "rmse", 2, 10, "age"},
          {"all", "right", "rmse", 4, 10, "age"},     {"left", "right", "sum_correlation", 3, 10, {}},
          {"left", "right", "accuracy", 0.6, 10, {}}, {"right", "left", "accuracy", 0.4, 10, {}},
          {"left", "left", "accuracy", 0.8, 10, {}},  {"joint", "joint", "accuracy", 0.95, 10, {}}};
}

double value(const char* text) { return value_of(parse_metric(text, views()), scores()); }

TEST(Metric, PicksWhatItNames) {
  EXPECT_DOUBLE_EQ(value("accuracy"), 0.9);
  EXPECT_DOUBLE_EQ(value("accuracy:left"), 0.5);
  EXPECT_DOUBLE_EQ(value("rmse"), 3) << "without a figure of all views the mean over them";
  EXPECT_DOUBLE_EQ(value("sum_correlation"), 3);
  EXPECT_DOUBLE_EQ(value("cross_view_accuracy"), 0.5);
  EXPECT_DOUBLE_EQ(value("cross_view_accuracy:left/right"), 0.6);
  EXPECT_TRUE(std::isnan(value("concordance")));
}

TEST(Metric, OwnViewsStandInWhereNothingIsAcross) {
  const std::vector<Score> own = {{"left", "left", "accuracy", 0.8, 10, {}},
                                  {"right", "right", "accuracy", 0.6, 10, {}}};
  EXPECT_DOUBLE_EQ(value_of({"cross_view_accuracy", {}, {}}, own), 0.7);
  EXPECT_DOUBLE_EQ(value_of({"cross_view_accuracy", "left", "right"}, own), 0.6);
}

TEST(Metric, KnowsWhichWayIsBetter) {
  EXPECT_GT(parse_metric("accuracy", views()).goodness(0.9), parse_metric("accuracy", views()).goodness(0.8));
  EXPECT_LT(parse_metric("rmse", views()).goodness(0.9), parse_metric("rmse", views()).goodness(0.8));
  EXPECT_EQ(parse_metric("rmse", views()).goodness(std::nan("")), -HUGE_VAL);
}

TEST(Metric, TextReadsBackAndMistakesAreNamed) {
  for (const char* text : {"accuracy", "accuracy:left", "cross_view_accuracy:left/right"}) {
    EXPECT_EQ(parse_metric(text, views()).text(), text);
  }
  const auto message = [](const char* text) { return error_message<InputError>([&] { parse_metric(text, views()); }); };
  EXPECT_THAT(message("acuracy"), HasSubstr("did you mean accuracy"));
  EXPECT_THAT(message("accuracy:lft"), HasSubstr("did you mean left"));
  EXPECT_THAT(message("cross_view_accuracy:left"), HasSubstr("need both views"));
}

TEST(Metric, UsualOneSuitsTheData) {
  Dataset data = tocca::testing::make_shared(10, 3, 0.3, 1);
  EXPECT_EQ(usual_metric(data, find_method("tocca-w")).text(), "accuracy");
  data.labels = {};
  EXPECT_EQ(usual_metric(data, find_method("dcca")).text(), "sum_correlation");
  data.targets.push_back({TargetKind::survival, {"time", "event"}, {}, Matrix<double>::Ones(10, 2)});
  EXPECT_EQ(usual_metric(data, find_method("tocca-w")).text(), "concordance");
}

// Every metric of the table is one that models are scored with, under that name.
TEST(Metric, EveryNameIsMeasuredSomewhere) {
  const Dataset data = tocca::testing::make_shared(60, 3, 0.3, 1);
  Options options;
  options.method = "tocca-w";
  options.epochs = 1;
  const FittedModel model = fit(data, &data, options, {}).model;
  for (const char* name : {"accuracy", "balanced_accuracy", "macro_f1", "cross_view_accuracy", "sum_correlation",
                           "recall_at_1", "recall_at_5", "recall_at_10", "median_rank", "mean_reciprocal_rank"}) {
    const ScoringOptions scoring{{name, {}, {}}, 1};
    EXPECT_FALSE(std::isnan(value_of(scoring.metric, score_model(model, data, data, scoring, Rng(1), {})))) << name;
  }
}

}  // namespace
}  // namespace tocca
