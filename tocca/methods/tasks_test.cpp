// Every task with every method that takes it: what must hold for all of them.
#include "tocca/methods/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tocca/core/error.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/methods/methods.h"
#include "tocca/methods/resolve.h"
#include "tocca/methods/test_fits.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_shared;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The shared data with a target of that kind, which depends on the first hidden coordinates as the classes do: their
// signs. Every class is at least 2 of 4.
Target target_of(TargetKind kind, const Labels& labels, std::uint64_t seed) {
  Rng rng(seed);
  Target target{kind, {}, {}, {}};
  const Index n = labels.size();
  target.values.resize(n, kind == TargetKind::classification ? 0 : 2);
  if (kind == TargetKind::classification) {
    target.columns = {"first"};
    target.labels.classes = {"minus", "plus"};
  } else {
    target.columns =
        kind == TargetKind::survival ? std::vector<std::string>{"time", "event"} : std::vector<std::string>{"a", "b"};
  }
  for (Index i = 0; i < n; ++i) {
    const int code = labels.codes[static_cast<std::size_t>(i)];
    const double first = code % 2 == 1 ? 1 : -1;
    const double second = code >= 2 ? 1 : -1;
    switch (kind) {
      case TargetKind::classification:
        target.labels.codes.push_back(first > 0 ? 1 : 0);
        break;
      case TargetKind::regression:
        target.values.row(i) << 100 + 30 * first + rng.normal(), 0.01 * second + 0.001 * rng.normal();
        break;
      case TargetKind::survival:
        target.values.row(i) << std::round(10 * std::exp(-first + 0.3 * rng.normal())), rng.uniform() < 0.7 ? 1 : 0;
        break;
      case TargetKind::multilabel:
        target.values.row(i) << (first > 0 ? 1 : 0), (second > 0 ? 1 : 0);
        break;
    }
  }
  return target;
}

struct Data {
  Dataset training = make_shared(240, 3, 0.3, 1);
  Dataset test = make_shared(200, 3, 0.3, 2);
  Labels classes = test.labels;
};

Data data_for(const TaskRow& task) {
  Data data;
  if (!task.labels) {
    data.training.labels = data.test.labels = {};
  } else if (*task.labels != TargetKind::classification) {
    data.training.targets = {target_of(*task.labels, data.training.labels, 1)};
    data.test.targets = {target_of(*task.labels, data.test.labels, 2)};
    data.training.labels = data.test.labels = {};
  }
  return data;
}

Options quick(const std::string& method, const std::string& task) {
  Options options = testing::quick(method);
  options.task = task;
  options.epochs = 40;
  options.clusters = 4;
  return options;
}

// The least over the views that it was measured on.
double least_score(const std::vector<Score>& scores, const std::string& metric) {
  double least = kNan;
  for (const Score& score : scores) {
    if (score.metric == metric && !(score.value >= least)) least = score.value;
  }
  return least;
}

// What chance, or a constant, scores at most, and what a fit reaches at least.
struct Floor {
  const char* metric;
  double least;
};

Floor floor_of(std::string_view task) {
  if (task == "regression") return {"r_squared", 0.2};
  if (task == "survival") return {"concordance", 0.65};
  if (task == "multilabel") return {"auc", 0.8};
  if (task == "clustering") return {"ari", 0.05};
  if (task == "retrieval") return {"recall_at_10", 0.2};  // 0.05 by chance
  return {"accuracy", 0.7};
}

struct Pairing {
  std::string method, task;
};

std::vector<Pairing> pairings() {
  std::vector<Pairing> all;
  for (const Method& method : methods()) {
    for (const TaskRow& task : tasks()) {
      Options options;
      options.method = method.name;
      options.task = task.name;
      try {
        resolve(options, 2);
      } catch (const InputError&) {
        continue;
      }
      all.push_back({options.method, options.task});
    }
  }
  return all;
}

class EveryTask : public ::testing::TestWithParam<Pairing> {};
INSTANTIATE_TEST_SUITE_P(Table, EveryTask, ::testing::ValuesIn(pairings()), [](const auto& info) {
  std::string name = info.param.method + "_" + info.param.task;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::vector<Matrix<double>> all_predictions(const FittedModel& model, const Views& views, const Context& context) {
  std::vector<Matrix<double>> all;
  if (model.predicts()) all.push_back(predict(model, views, context).scores);
  for (std::size_t t = 0; t < model.targets.size(); ++t) all.push_back(predict_target(model, t, views, context));
  for (Index v = 0; model.projects() && v < model.view_count(); ++v) {
    all.push_back(transform(model, views, v, samples_with_view(views, v), context));
  }
  return all;
}

TEST_P(EveryTask, LearnsAndItsFileSaysTheSame) {
  const auto& [method, task] = GetParam();
  const Data data = data_for(find_task(task));
  const FittedModel model = fit(data.training, nullptr, quick(method, task), make_context(2)).model;
  Dataset known = data.test;
  if (task == "clustering") known.labels = data.classes;
  const Floor floor = floor_of(task);
  EXPECT_GT(least_score(model_scores(model, known, {}, task == "retrieval"), floor.metric), floor.least);
  const tocca::testing::TempDir dir;
  save_model(model, dir.file("m"));
  const FittedModel loaded = load_model(dir.file("m"));
  EXPECT_EQ(all_predictions(loaded, data.test.views, {}), all_predictions(model, data.test.views, make_context(3)));
}

TEST_P(EveryTask, SameBitsForAnyNumberOfThreads) {
  const auto& [method, task] = GetParam();
  const Data data = data_for(find_task(task));
  Options options = quick(method, task);
  options.epochs = 3;
  const auto run = [&](int threads) {
    return all_predictions(fit(data.training, nullptr, options, make_context(threads)).model, data.test.views, {});
  };
  const auto one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(4));
}

TEST_P(EveryTask, TakesGapsInTargetsAndViews) {
  const auto& [method, task] = GetParam();
  Data data = data_for(find_task(task));
  Rng rng(4);
  for (Index i = 0; i < data.training.views.size(); ++i) {
    const auto s = static_cast<std::size_t>(i);
    if (!data.training.labels.codes.empty() && rng.uniform() < 0.3) data.training.labels.codes[s] = -1;
    for (Target& target : data.training.targets) {
      for (Index c = 0; c < target.values.cols(); ++c) {
        if (rng.uniform() < 0.2) target.values(i, c) = kNan;
      }
    }
    if (rng.uniform() < 0.3) data.training.views.views[rng.below(2)].row_of_sample[s] = -1;
  }
  const FittedModel model = fit(data.training, nullptr, quick(method, task), {}).model;
  for (const std::size_t kept : {0U, 1U}) {
    Views half = data.test.views;
    half.views = {half.views[kept]};
    for (const auto& values : all_predictions(model, match_views(model, half, {}), {})) {
      EXPECT_TRUE(values.allFinite());
    }
  }
}

TEST(SeveralTasks, AreLearntTogether) {
  Dataset training = make_shared(240, 3, 0.3, 1);
  Dataset test = make_shared(200, 3, 0.3, 2);
  for (const TargetKind kind :
       {TargetKind::regression, TargetKind::survival, TargetKind::multilabel, TargetKind::classification}) {
    training.targets.push_back(target_of(kind, training.labels, 1));
    test.targets.push_back(target_of(kind, test.labels, 2));
  }
  Options options = quick("tocca-w", "auto");
  options.epochs = 80;
  const FittedModel model = fit(training, nullptr, options, {}).model;
  const std::vector<Score> scores = model_scores(model, test, {});
  const std::pair<const char*, double> floors[] = {
      {"accuracy", 0.7}, {"r_squared", 0.2}, {"concordance", 0.65}, {"auc", 0.8}};  // chance: 0.5, 0, 0.5, 0.5
  for (const auto& [metric, floor] : floors) EXPECT_GT(least_score(scores, metric), floor) << metric;
  options.task_weights = "1,2";
  EXPECT_THAT(error_message<InputError>([&] { fit(training, nullptr, options, {}); }), HasSubstr("one for each of 5"));
}

TEST(Regression, PredictsInTheUnitsOfTheData) {
  const Data data = data_for(find_task("regression"));
  const FittedModel model = fit(data.training, nullptr, quick("tocca-w", "regression"), {}).model;
  const Matrix<double> predicted = predict_target(model, 0, data.test.views, {});
  EXPECT_NEAR(predicted.col(0).mean(), 100, 10);
  EXPECT_NEAR(predicted.col(1).mean(), 0, 0.005);
}

TEST(Targets, SayWhatIsWrongWithThem) {
  const auto why = [](const std::string& method, const std::string& task, Target target) {
    Dataset data = make_shared(60, 3, 0.3, 1);
    target.columns = {"a", "b"};
    data.labels = {};
    data.targets = {std::move(target)};
    return error_message<InputError>([&] { fit(data, nullptr, quick(method, task), {}); });
  };
  const Target usable = target_of(TargetKind::regression, make_shared(60, 3, 0.3, 1).labels, 1);
  Target constant = usable;
  constant.values.col(0).setConstant(3);
  EXPECT_THAT(why("tocca-w", "regression", constant), HasSubstr("column 'a': all values are 3"));
  Target empty = usable;
  empty.values.setConstant(kNan);
  EXPECT_THAT(why("tocca-w", "regression", empty), HasSubstr("column 'a': no sample has a value"));
  Target censored{TargetKind::survival, {}, {}, Matrix<double>::Ones(60, 2)};
  censored.values.col(1).setZero();
  EXPECT_THAT(why("tocca-w", "survival", censored), HasSubstr("column 'b': no event"));
  EXPECT_THAT(why("svm", "auto", usable), HasSubstr("learns class labels alone"));
  EXPECT_THAT(why("dcca", "auto", usable), HasSubstr("learns class labels alone"));
  EXPECT_THAT(why("tocca-w", "retrieval", usable), HasSubstr("no head for it"));
  EXPECT_THAT(why("tocca-w", "survival", usable), HasSubstr("no survival target"));
}

// What is left to standardise by after a validation part and label_fraction are taken away, or is out of range.
TEST(Regression, NumbersThatCannotBeStandardisedAreRefused) {
  Dataset data = data_for(find_task("regression")).training;
  Options options = quick("tocca-w", "regression");
  const auto why = [&] { return error_message<InputError>([&] { fit(data, nullptr, options, {}); }); };
  for (const double scale : {1e200, 1e-200}) {
    data.targets[0].values.col(0) *= scale;
    EXPECT_THAT(why(), HasSubstr("column 'a'")) << scale;
    data.targets[0].values.col(0) /= scale;
  }
  data.targets[0].values.bottomRows(238).setConstant(kNan);
  options.label_fraction = 0.01;
  EXPECT_THAT(why(), HasSubstr("got 1 training sample with a value"));
}

TEST(Fit, KnowsHowManySamplesAreLabelledWhateverTheTask) {
  const Data data = data_for(find_task("survival"));
  Options options = quick("tocca-w", "survival");
  options.epochs = 1;
  const auto provenance = fit(data.training, nullptr, options, {}).model.provenance;
  const auto found = std::find_if(provenance.begin(), provenance.end(),
                                  [](const auto& fact) { return fact.first == "labelled_samples"; });
  EXPECT_EQ(found->second, "192");
}

TEST(Fit, UnlabelledTasksIgnoreTheLabelFraction) {
  const Data data = data_for(find_task("clustering"));
  Options options = quick("tocca-nd", "clustering");
  options.label_fraction = 0.3;
  EXPECT_EQ(fit(data.training, nullptr, options, {}).model.classes.size(), 4U);
}

TEST(ModelScores, LeaveOutSamplesWithoutAnyView) {
  const Dataset training = make_shared(240, 3, 0.3, 1);
  Dataset test = make_shared(100, 3, 0.3, 2);
  for (View& view : test.views.views) view.row_of_sample[7] = -1;
  for (const char* task : {"classification", "clustering"}) {
    Dataset learnt = training;
    if (task == std::string("clustering")) learnt.labels = {};
    const FittedModel model = fit(learnt, nullptr, quick("tocca-w", task), {}).model;
    for (const Score& score : model_scores(model, test, {})) {
      if (score.test_view == "all") {
        EXPECT_EQ(score.samples, 99) << score.metric;
      }
    }
  }
}

// Spaces of their own have nothing to do with each other, and so need classifiers of their own.
TEST(Lda, OfViewsWithoutASharedSpaceIsFittedForEach) {
  const Data data = data_for(find_task("lda"));
  const FittedModel model = fit(data.training, nullptr, quick("nn", "lda"), {}).model;
  EXPECT_EQ(model.classifiers.size(), 2U);
  for (const Score& score : model_scores(model, data.test, {})) {
    if (score.metric == "accuracy") {
      EXPECT_GT(score.value, 0.7) << score.test_view;
    }
  }
}

TEST(Combination, OfProbabilitiesIsTheirMeanForLabelsAndTargets) {
  Dataset training = make_shared(240, 3, 0.3, 1);
  training.targets = {target_of(TargetKind::classification, training.labels, 1),
                      target_of(TargetKind::multilabel, training.labels, 1)};
  Options options = quick("tocca-w", "auto");
  options.combination = "probabilities";
  const FittedModel model = fit(training, nullptr, options, {}).model;
  const Views& views = training.views;
  const auto samples = samples_with_view(views, 0);
  const auto mean_of = [&](const auto& scores) { return Matrix<double>((scores(0) + scores(1)) / 2); };
  const auto classes = mean_of(
      [&](Index v) { return Matrix<double>(class_scores(model, views, v, samples, {}).array().exp().matrix()); });
  EXPECT_LT((classes - predict(model, views, {}).scores).cwiseAbs().maxCoeff(), 1e-6);
  const auto further = mean_of(
      [&](Index v) { return Matrix<double>(target_scores(model, 0, views, v, samples, {}).array().exp().matrix()); });
  EXPECT_LT((further - predict_target(model, 0, views, {})).cwiseAbs().maxCoeff(), 1e-6);
  const auto properties = mean_of([&](Index v) {
    return Matrix<double>((1 + (-target_scores(model, 1, views, v, samples, {}).array()).exp()).inverse().matrix());
  });
  EXPECT_LT((properties - predict_target(model, 1, views, {})).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Combination, WeighsViewsByHowTheyPredictHeldOutSamples) {
  Dataset training = make_shared(240, 3, 0.3, 1);
  Matrix<double> noise(240, 6);
  Rng rng(9);
  for (double& value : noise.reshaped()) value = rng.normal();
  training.views.views[1].values = Table(noise);
  Options options = quick("nn", "auto");
  options.view_weights = "validation";
  const auto weights = fit(training, nullptr, options, {}).model.combination.view_weights;
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_GT(weights[0], 0.7);
  EXPECT_LT(weights[1], 0.5);
}

TEST(ModelScores, RefuseOtherTargetsThanTheModels) {
  const Data data = data_for(find_task("regression"));
  const FittedModel model = fit(data.training, nullptr, quick("tocca-w", "regression"), {}).model;
  Dataset other = data.test;
  other.targets = {target_of(TargetKind::survival, data.classes, 2)};
  EXPECT_THAT(error_message<InputError>([&] { model_scores(model, other, {}); }),
              HasSubstr("need regression of 'a,b'"));
  other.targets = {data.test.targets[0]};
  other.targets[0].values.conservativeResize(20, 2);
  EXPECT_THAT(error_message<InputError>([&] { model_scores(model, other, {}); }), HasSubstr("one for each sample"));
  Dataset short_of = data.training;
  short_of.targets[0].values.conservativeResize(20, 2);
  EXPECT_THAT(error_message<InputError>([&] { fit(short_of, nullptr, quick("tocca-w", "regression"), {}); }),
              HasSubstr("got values of 20 samples, need 240"));
}

}  // namespace
}  // namespace tocca
