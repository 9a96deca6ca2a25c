#include "tocca/search/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "tocca/core/error.h"
#include "tocca/search/space_file.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_dataset;
using tocca::testing::make_shared;
using tocca::testing::TempDir;

SearchSpace small_space() {
  return parse_space("[space]\nlearning_rate = [1e-3, 1e-2]\nridge = [0.1, 1]\ndropout = [0, 0.2]\n", "space");
}

Comparison small_comparison(const Dataset& data, Index splits) {
  Comparison comparison;
  comparison.methods = {"rcca", "svm", "nn", "tocca-w"};
  comparison.options.n_components = 4;
  comparison.options.hidden_size = 16;
  comparison.options.epochs = 8;
  comparison.inner = {.folds = 2};
  for (const Split& split : resample(data, {.repeats = splits, .held_out = 0.3}, Rng(1))) {
    comparison.splits.push_back({data.select(split.train), std::nullopt, data.select(split.test)});
  }
  return comparison;
}

TEST(Comparison, ScoresEveryMethodOnEverySplit) {
  const Dataset data = make_shared(150, 3, 0.3, 1);
  const Comparison comparison = small_comparison(data, 3);
  TrialStore one(""), three("");
  const ComparisonResult result = run_comparison(one, comparison, {});
  ASSERT_EQ(result.methods.size(), 4U);
  for (const MethodOutcome& outcome : result.methods) {
    ASSERT_EQ(outcome.splits.size(), 3U);
    EXPECT_EQ(outcome.mean.count, 3);
    EXPECT_GT(outcome.mean.mean, 0.4) << outcome.method << ", chance is 0.25";
  }
  const ComparisonResult again = run_comparison(three, comparison, make_context(3));
  for (std::size_t m = 0; m < 4; ++m) EXPECT_EQ(result.methods[m].mean.mean, again.methods[m].mean.mean);
}

TEST(Comparison, DifferencesAreTestedAgainstTheBaseline) {
  const Dataset data = make_shared(150, 3, 0.3, 1);
  Comparison comparison = small_comparison(data, 4);
  comparison.methods = {"rcca", "svm"};
  comparison.baseline = "svm";
  TrialStore store("");
  const ComparisonResult result = run_comparison(store, comparison, {});
  std::vector<double> differences;
  for (std::size_t s = 0; s < 4; ++s) {
    differences.push_back(result.methods[0].splits[s].value - result.methods[1].splits[s].value);
  }
  const PairedTest expected = corrected_resampled_t_test(differences, 45.0 / 105.0);
  EXPECT_DOUBLE_EQ(result.methods[0].difference.p, expected.p);
  EXPECT_EQ(result.methods[1].difference.count, 0);
}

// A column that holds the row number of the test samples, and labels that mean nothing: who has seen nothing of the
// test part cannot do better than chance. `leak`: the test samples are learnt from, too.
double accuracy_with_planted_column(const std::string& method, bool leak, std::uint64_t seed) {
  constexpr Index kSamples = 160, kTest = 60;
  const Rng rng(seed);
  std::vector<int> codes;
  Rng coins = rng.split("labels");
  for (Index i = 0; i < kSamples; ++i) codes.push_back(static_cast<int>(coins.below(2)));
  const auto noise = [&](const char* name) {
    Rng own = rng.split(name);
    return Matrix<double>(Matrix<double>::NullaryExpr(kSamples, kTest + 3, [&] { return own.normal(); }));
  };
  Matrix<double> left = noise("left"), right = noise("right");
  std::vector<Index> train, test;
  for (Index i = 0; i < kSamples; ++i) (i < kTest ? test : train).push_back(i);
  for (Matrix<double>* view : {&left, &right}) {
    view->topRows(kTest).leftCols(kTest) += 20 * Matrix<double>::Identity(kTest, kTest);  // which row it is
    for (Index i = 0; i < kTest; ++i) (*view)(i, kTest) = static_cast<double>(i + 1);     // the same as a number
    view->col(kTest).tail(kSamples - kTest).setZero();
  }
  const Dataset data = make_dataset({left, right}, codes, 2);
  if (leak) train.insert(train.begin(), test.begin(), test.end());
  Comparison comparison = small_comparison(data, 1);
  comparison.methods = {method};
  comparison.options.epochs = leak ? 60 : 8;
  comparison.options.patience = 0;
  comparison.splits = {{data.select(train), std::nullopt, data.select(test)}};
  comparison.space = small_space();
  comparison.tune = 2;
  TrialStore store("");
  return run_comparison(store, comparison, make_context(2)).methods[0].mean.mean;
}

TEST(Comparison, NothingOfTheTestPartIsSeen) {
  for (const char* method : {"rcca", "svm", "lda", "nn", "dcca", "tocca-w", "tocca-sd"}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) sum += accuracy_with_planted_column(method, false, seed);
    EXPECT_NEAR(sum / 4, 0.5, 4 * std::sqrt(0.25 / (4 * 60))) << method;
  }
}

TEST(Comparison, ThePlantedColumnGivesALeakAway) {
  for (const char* method : {"svm", "tocca-w"}) EXPECT_GT(accuracy_with_planted_column(method, true, 1), 0.8) << method;
}

// Whatever the test part holds, the same models are fitted.
TEST(Comparison, ModelsDoNotDependOnTheTestPart) {
  const Dataset data = make_shared(150, 3, 0.3, 1);
  const auto projections = [&](bool scrambled) {
    Comparison comparison = small_comparison(data, 2);
    comparison.space = small_space();
    comparison.tune = 3;
    if (scrambled) {
      for (ComparisonSplit& split : comparison.splits) {
        split.test = make_shared(30, 3, 5, 77);
        std::fill(split.test.labels.codes.begin(), split.test.labels.codes.end(), 1);
      }
    }
    std::map<std::string, Matrix<double>> all;
    std::mutex mutex;
    comparison.fitted = [&](const std::string& method, std::size_t split, const FittedModel& model) {
      const Views views = match_views(model, data.views, {});
      const std::lock_guard lock(mutex);
      all[method + std::to_string(split)] = predict(model, views, {}).scores;
    };
    TrialStore store("");
    run_comparison(store, comparison, make_context(2));
    return all;
  };
  const auto expected = projections(false);
  EXPECT_EQ(expected.size(), 8U);
  EXPECT_EQ(projections(true), expected);
}

TEST(Comparison, TunedSettingsAreTheBestOfTheInnerSearchAndItGoesOn) {
  const TempDir dir;
  const Dataset data = make_shared(150, 3, 0.3, 1);
  Comparison comparison = small_comparison(data, 2);
  comparison.methods = {"rcca", "tocca-w"};
  comparison.space = small_space();
  comparison.tune = 4;
  std::vector<double> first;
  {
    TrialStore store(dir.file("c.db"));
    for (const MethodOutcome& outcome : run_comparison(store, comparison, {}).methods)
      first.push_back(outcome.mean.mean);
    const auto inner = store.find_study("compare rcca, split 1: search");
    ASSERT_TRUE(inner);
    EXPECT_EQ(store.trials(*inner).size(), 2U) << "a ridge of two is all that matters to rcca";
  }
  TrialStore store(dir.file("c.db"));
  int fits = 0;
  comparison.fitted = [&](const std::string&, std::size_t, const FittedModel&) { ++fits; };
  const ComparisonResult again = run_comparison(store, comparison, {});
  EXPECT_EQ(fits, 0);
  for (std::size_t m = 0; m < 2; ++m) EXPECT_EQ(again.methods[m].mean.mean, first[m]);
  EXPECT_THAT(again.methods[0].splits[0].folds[0].message, HasSubstr("ridge = "));
}

TEST(Comparison, OtherDataUnderTheSameNameAreRefused) {
  const Dataset data = make_shared(90, 3, 0.3, 1);
  Comparison comparison = small_comparison(data, 2);
  comparison.methods = {"svm"};
  TrialStore store("");
  run_comparison(store, comparison, {});
  Comparison more = small_comparison(data, 3);
  more.methods = {"svm"};
  EXPECT_EQ(run_comparison(store, more, {}).methods[0].splits.size(), 3U) << "further splits may be added";
  std::swap(comparison.splits[0].training, comparison.splits[0].test);
  EXPECT_THAT(error_message<InputError>([&] { run_comparison(store, comparison, {}); }), HasSubstr("split 1"));
}

TEST(Comparison, TunesOnceOnlyWithAValidationSet) {
  const Dataset data = make_shared(150, 3, 0.3, 1);
  Comparison comparison = small_comparison(data, 2);
  comparison.methods = {"tocca-w"};
  comparison.space = small_space();
  comparison.tune = 2;
  comparison.tune_once = true;
  TrialStore store("");
  EXPECT_THAT(error_message<InputError>([&] { run_comparison(store, comparison, {}); }), HasSubstr("validation set"));
  for (ComparisonSplit& split : comparison.splits) split.validation = make_shared(40, 3, 0.3, 9);
  const ComparisonResult result = run_comparison(store, comparison, make_context(2));
  EXPECT_EQ(result.methods[0].mean.count, 2);
  EXPECT_TRUE(store.find_study("compare tocca-w, split 0: search"));
  EXPECT_FALSE(store.find_study("compare tocca-w, split 1: search"));
}

TEST(Comparison, MistakesAreNamed) {
  const Dataset data = make_shared(60, 3, 0.3, 1);
  TrialStore store("");
  const auto message = [&](auto change) {
    Comparison comparison = small_comparison(data, 1);
    change(comparison);
    return error_message<InputError>([&] { run_comparison(store, comparison, {}); });
  };
  EXPECT_THAT(message([](Comparison& c) { c.methods = {"tocca"}; }), HasSubstr("tocca-w"));
  EXPECT_THAT(message([](Comparison& c) { c.methods = {"svm", "svm"}; }), HasSubstr("given twice"));
  EXPECT_THAT(message([](Comparison& c) { c.methods = {}; }), HasSubstr("no methods"));
  EXPECT_THAT(message([](Comparison& c) { c.splits.clear(); }), HasSubstr("no splits"));
  EXPECT_THAT(message([](Comparison& c) { c.baseline = "cca"; }), HasSubstr("baseline"));
}

}  // namespace
}  // namespace tocca
