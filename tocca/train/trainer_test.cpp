#include "tocca/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/linalg/cca.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"
#include "tocca/testing/two_views.h"
#include "tocca/train/test_training_data.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_shared;
using tocca::testing::unstandardized;

// A training and a validation set, standardised as they are.
struct Setting {
  Dataset training = make_shared(90, 3, 0.3, 1);
  Dataset validation = make_shared(60, 3, 0.3, 2);
  NetworkShape shape{.inputs = {8, 6}, .hidden_layers = 1, .hidden_size = 16, .components = 4, .heads = class_heads(4)};
  TrainOptions options;
  Setting() { options.nadam.learning_rate = 1e-2; }

  TrainSummary run(Network<float>& network, const Context& context = {}) {
    network.initialize(Rng(1));
    return train(network, unstandardized(training), unstandardized(validation), options, Rng(2), context);
  }
};

TEST(Train, LearnsAndKeepsTheBestEpoch) {
  Setting s;
  s.options.epochs = 25;
  s.options.patience = 0;
  Network<float> network(s.shape);
  const TrainSummary summary = s.run(network);
  EXPECT_EQ(summary.status, TrainStatus::completed);
  EXPECT_EQ(summary.history.size(), 25U);
  double best = 0;
  for (const EpochRecord& record : summary.history) best = std::max(best, record.validation_score);
  EXPECT_GT(best, 0.8);
  EXPECT_EQ(summary.history[static_cast<std::size_t>(summary.best_epoch - 1)].validation_score, best);
  EXPECT_LT(summary.history.back().terms.task, 0.5 * summary.history.front().terms.task);
  EXPECT_GT(summary.history.back().sum_correlation, 1.5);
  // The network is that of the best epoch: training up to it gives the same bits.
  Setting again;
  again.options.epochs = summary.best_epoch;
  Network<float> shorter(again.shape);
  again.run(shorter);
  EXPECT_EQ(network.parameters.values(), shorter.parameters.values());
  EXPECT_EQ(network.statistics.values(), shorter.statistics.values());
}

TEST(Train, StopsEarlyWithoutImprovement) {
  Setting s;
  s.options.epochs = 500;
  s.options.patience = 4;
  Network<float> network(s.shape);
  const TrainSummary summary = s.run(network);
  EXPECT_EQ(summary.status, TrainStatus::stopped_early);
  EXPECT_EQ(summary.epochs, summary.best_epoch + 4);
  EXPECT_THAT(summary.message, HasSubstr("no better validation score for 4 epochs"));
}

TEST(Train, DivergenceIsAStatusAndFiniteWeightsAreKept) {
  for (const Projection projection : {Projection::identity, Projection::whiten}) {
    Setting s;
    s.shape.projection = projection;
    s.options.nadam.learning_rate = 1e30;
    Network<float> network(s.shape);
    const TrainSummary summary = s.run(network);
    EXPECT_EQ(summary.status, TrainStatus::diverged);
    EXPECT_THAT(summary.message, HasSubstr("Lower learning_rate"));
    EXPECT_EQ(summary.epochs, 0);
    EXPECT_THAT(summary.message, HasSubstr("columns far larger than 1 need standardize = zscore"));
    const bool whitens = projection == Projection::whiten;
    EXPECT_EQ(summary.message.find("whitening_epsilon") != std::string::npos, whitens) << summary.message;
    EXPECT_TRUE(network.finite());
  }
}

TEST(Train, CancellingStopsAfterTheStepAndKeepsTheBestWeights) {
  Setting s;
  std::atomic<bool> cancel = false;
  Context context;
  context.cancel = &cancel;
  int reports_after = 0;
  context.progress = [&](const Progress& p) {
    reports_after += cancel ? 1 : 0;
    if (p.done > 5.5) cancel = true;
  };
  Network<float> network(s.shape);
  const TrainSummary summary = s.run(network, context);
  EXPECT_EQ(summary.status, TrainStatus::interrupted);
  EXPECT_EQ(reports_after, 0);
  EXPECT_EQ(summary.epochs, 5);
  EXPECT_GE(summary.best_epoch, 1);
  EXPECT_THAT(summary.message, HasSubstr("interrupted in epoch 6 of 100"));
}

TEST(Train, CosineScheduleFallsFromOneToZero) {
  EXPECT_EQ(learning_rate_factor(Schedule::constant, 0.7), 1);
  EXPECT_EQ(learning_rate_factor(Schedule::cosine, 0), 1);
  EXPECT_NEAR(learning_rate_factor(Schedule::cosine, 0.5), 0.5, 1e-15);
  EXPECT_NEAR(learning_rate_factor(Schedule::cosine, 1), 0, 1e-15);
}

// The steps of the last of many epochs are tiny under the cosine, and are not under a constant rate.
TEST(Train, CosineScheduleSettlesTheWeights) {
  const auto moved_in_last_epoch = [](Schedule schedule) {
    Setting s;
    s.options.schedule = schedule;
    s.options.epochs = 12;
    Network<float> last(s.shape);
    Buffer<float> before;
    Context context;
    context.progress = [&](const Progress& p) {
      if (p.done == 11) before = last.parameters;
    };
    last.initialize(Rng(1));
    train(last, unstandardized(s.training), {}, s.options, Rng(2),
          context);  // no validation: the last weights are kept
    return (last.parameters.values() - before.values()).norm() / before.values().norm();
  };
  EXPECT_LT(moved_in_last_epoch(Schedule::cosine), 0.2 * moved_in_last_epoch(Schedule::constant));
}

// A network with a CCA layer, pre-trained by the trace norm.
Setting pretrained(int epochs) {
  Setting s;
  s.shape.projection = Projection::cca;
  s.options.objective.agreement = Agreement::none;
  s.options.epochs = 4;
  s.options.patience = 0;
  s.options.pretrain_epochs = epochs;
  s.options.pretraining = {
      .task = Task::none, .agreement = Agreement::trace_norm, .agreement_weight = 1, .skip_cca_layer = true};
  return s;
}

TEST(Train, PretrainingComesBeforeTheEpochsCounted) {
  Setting s = pretrained(3);
  Context context;
  double total = 0;
  std::set<std::string> before, after;
  context.progress = [&](const Progress& p) {
    total = p.total;
    for (const auto& [name, value] : p.values) (p.done <= 3 ? before : after).insert(name);
  };
  Network<float> network(s.shape);
  const TrainSummary summary = s.run(network, context);
  EXPECT_EQ(summary.epochs, 4);
  EXPECT_FALSE(summary.pretraining);
  EXPECT_EQ(total, 7);
  EXPECT_EQ(before, (std::set<std::string>{"agreement"}));
  EXPECT_TRUE(after.contains("task"));
  EXPECT_FALSE(after.contains("agreement"));
}

TEST(Train, PretrainingRaisesTheCorrelationThatTheFirstEpochStartsFrom) {
  const auto first_sum_correlation = [](int pretrain_epochs) {
    Setting s = pretrained(pretrain_epochs);
    s.options.epochs = 1;
    Network<float> network(s.shape);
    return s.run(network).history.at(0).sum_correlation;
  };
  EXPECT_GT(first_sum_correlation(20), first_sum_correlation(0) + 0.1);
}

TEST(Train, SaysThatItEndedInPretraining) {
  Setting s = pretrained(5);
  std::atomic<bool> cancel = false;
  Context context;
  context.cancel = &cancel;
  context.progress = [&](const Progress& p) { cancel = p.done > 2; };
  Network<float> network(s.shape);
  const TrainSummary summary = s.run(network, context);
  EXPECT_EQ(summary.status, TrainStatus::interrupted);
  EXPECT_TRUE(summary.pretraining);
  EXPECT_THAT(summary.message, HasSubstr("interrupted in pre-training"));
  s.options.pretraining.agreement = Agreement::l2;
  EXPECT_THROW(s.run(network), InputError) << "the distance needs Z";
}

// With linear encoders and the whole data as a batch, deep CCA has the optimum of linear CCA.
TEST(Train, LinearDeepCcaReachesTheSumCorrelationOfLinearCca) {
  Setting s;
  s.training = make_shared(400, 3, 0.5, 1);
  s.shape = {.inputs = {8, 6}, .hidden_layers = 0, .components = 3, .paired = true};
  s.shape.whitening = {.epsilon = 1e-4, .running = false};
  s.options.objective = {.task = Task::none, .agreement = Agreement::trace_norm, .agreement_weight = 1};
  s.options.batch_size = 400;
  s.options.epochs = 400;
  s.options.patience = 0;
  Network<float> network(s.shape);
  const TrainSummary summary = s.run(network);
  Matrix<double> left(400, 8), right(400, 6);
  std::vector<Index> all(400);
  std::iota(all.begin(), all.end(), 0);
  s.training.views.views[0].values.read_rows(all, left);
  s.training.views.views[1].values.read_rows(all, right);
  const double optimum = cca(left, right, {.components = 3}).correlations.sum();
  EXPECT_NEAR(-summary.history.back().terms.agreement, optimum, 0.01);
}

TEST(Train, ProgressNamesTheTermsAndCountsUp) {
  Setting s;
  s.shape.decorrelated = true;
  s.options.epochs = 3;
  s.options.objective = {.decorrelation_weight = 0.01, .weight_decay = 1e-4};
  std::set<std::string> names;
  double done = 0;
  Context context;
  context.progress = [&](const Progress& p) {
    EXPECT_GE(p.done, done);
    done = p.done;
    for (const auto& [name, value] : p.values) {
      EXPECT_TRUE(std::isfinite(value)) << name;
      names.insert(name);
    }
  };
  Network<float> network(s.shape);
  s.run(network, context);
  EXPECT_EQ(done, 3);
  EXPECT_EQ(names, (std::set<std::string>{"agreement", "decorrelation", "sum correlation", "task", "validation score",
                                          "weight decay"}));
}

// Cancels after that many calls of progress, of which each step makes one.
struct CancelAfter {
  explicit CancelAfter(int calls) : left(calls) {
    context.cancel = &flag;
    context.progress = [this](const Progress&) {
      if (--left == 0) flag = true;
    };
  }
  int left;
  std::atomic<bool> flag = false;
  Context context;
};

// Every kind of state there is: pre-training, pairs, whitening, decorrelation, clusters, decoders.
std::vector<Setting> settings_to_resume() {
  Setting whitened;
  whitened.shape.projection = Projection::whiten;
  whitened.options.objective.perturbation.dropout = 0.2;
  whitened.options.mixup = 0.3;
  Setting layer;
  layer.shape.projection = Projection::cca;
  layer.options.pretrain_epochs = 3;
  layer.options.pretraining = {
      .task = Task::none, .agreement = Agreement::trace_norm, .agreement_weight = 1, .skip_cca_layer = true};
  layer.options.objective.agreement = Agreement::none;
  Setting clusters;
  clusters.options.clusters = 4;
  clusters.shape.decorrelated = true;
  clusters.shape.reconstructs = true;
  clusters.shape.private_components = 2;
  std::vector<Setting> all{whitened, layer, clusters};
  for (Setting& s : all) {
    s.options.epochs = 7;
    s.options.patience = 5;
  }
  return all;
}

TEST(Checkpoint, AnInterruptedRunGoesOnToTheSameBits) {
  for (Setting& s : settings_to_resume()) {
    Network<float> whole(s.shape);
    const TrainSummary summary = s.run(whole);
    const tocca::testing::TempDir dir;
    s.options.checkpoint = {.path = dir.file("state"), .fingerprint = "same"};
    Network<float> resumed(s.shape);
    TrainSummary last;
    int runs = 0;
    for (const int calls : {2, 5, 9, 7, 1000}) {  // in the first epoch, in pre-training, in the middle of later epochs
      CancelAfter cancel(calls);
      resumed = Network<float>(s.shape);
      last = s.run(resumed, cancel.context);
      ++runs;
      if (last.status != TrainStatus::interrupted) break;
    }
    EXPECT_GT(runs, 3);
    EXPECT_EQ(last.status, summary.status);
    EXPECT_EQ(last.best_epoch, summary.best_epoch);
    EXPECT_EQ(resumed.parameters.values(), whole.parameters.values());
    EXPECT_EQ(resumed.statistics.values(), whole.statistics.values());
    ASSERT_EQ(last.history.size(), summary.history.size());
    for (std::size_t i = 0; i < last.history.size(); ++i) {
      EXPECT_EQ(last.history[i].terms.task, summary.history[i].terms.task);
      EXPECT_EQ(last.history[i].epoch, summary.history[i].epoch);
    }
    EXPECT_FALSE(std::filesystem::exists(dir.file("state")));
  }
}

TEST(Checkpoint, OfAnotherRunOrDamagedIsRefusedAndKept) {
  const tocca::testing::TempDir dir;
  Setting s;
  s.options.checkpoint = {.path = dir.file("state"), .fingerprint = "one"};
  Network<float> network(s.shape);
  {
    CancelAfter cancel(9);
    s.run(network, cancel.context);
  }
  const std::string bytes = read_file(dir.file("state"));
  s.options.checkpoint.fingerprint = "another";
  EXPECT_THAT(error_message<InputError>([&] { s.run(network); }), HasSubstr("other data or settings"));
  EXPECT_EQ(read_file(dir.file("state")), bytes);
  s.options.checkpoint.fingerprint = "one";
  for (const Index place : {0, 1}) {
    for (const double number : {-1.0, 0.5, 1e300, std::nan("")}) {
      dir.write("state", bytes);
      const TensorFile whole = TensorFile::load(dir.file("state"));
      TensorFile changed;
      changed.metadata = whole.metadata;
      for (const std::string& name : whole.names()) {
        const bool single = name == "parameters" || name == "best.parameters" || name.starts_with("optimizer.first") ||
                            name.starts_with("optimizer.second") || name.starts_with("recent.view");
        if (single) {
          changed.add(name, whole.matrix_f(name));
        } else {
          Matrix<double> numbers = whole.matrix_d(name);
          if (name == "progress") numbers(0, place) = number;
          changed.add(name, numbers);
        }
      }
      changed.save(dir.file("state"));
      EXPECT_THAT(error_message<InputError>([&] { s.run(network); }), HasSubstr("out of range")) << number;
    }
  }
  dir.write("state", bytes.substr(0, bytes.size() / 2));
  EXPECT_NE(error_message<InputError>([&] { s.run(network); }), "(nothing was thrown)");
  dir.write("state", "sample,a\n1,2\n");
  EXPECT_NE(error_message<InputError>([&] { s.run(network); }), "(nothing was thrown)");
}

// What augmentation makes of the rows is what is learnt from, drawn anew for every batch.
TEST(Train, LearnsFromAugmentedRows) {
  Setting s;
  s.options.epochs = 3;
  s.options.batch_size = 30;
  const auto trained = [&](TrainingData data) {
    Network<float> network(s.shape);
    network.initialize(Rng(1));
    train(network, data, unstandardized(s.validation), s.options, Rng(2), {});
    return network;
  };
  std::set<std::uint64_t> keys;
  TrainingData halved = unstandardized(s.training), augmented = halved;
  halved.read = [read = halved.read](Index view, std::span<const Index> samples, Index first, MatrixRef<float> out) {
    read(view, samples, first, out);
    out *= 0.5F;
  };
  augmented.augment = [&](Index, std::span<const Index>, MatrixRef<float> rows, const Rng& rng) {
    keys.insert(rng.key());
    rows *= 0.5F;
  };
  const Network<float> a = trained(augmented), b = trained(halved), c = trained(unstandardized(s.training));
  EXPECT_EQ(a.parameters.values(), b.parameters.values());
  EXPECT_NE(a.parameters.values(), c.parameters.values());
  EXPECT_EQ(keys.size(), 9U);  // three batches an epoch
}

}  // namespace
}  // namespace tocca
