// What fitting refuses, warns of and tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/methods/test_fits.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_shared;
using tocca::testing::quick;

TEST(Fit, ViewsWithoutACommonSampleCannotBeTied) {
  Dataset apart = make_shared(120, 3, 0.3, 1);
  for (std::size_t i = 0; i < 120; ++i) apart.views.views[i % 2].row_of_sample[i] = -1;
  const auto message = [&](const char* method) {
    return error_message<InputError>([&] { fit(apart, nullptr, quick(method), {}); });
  };
  for (const char* method : {"ccal-ce", "ccal-rank"}) {
    EXPECT_THAT(message(method), HasSubstr("views 'left' and 'right': no batch of 32 has two samples with both"))
        << method;
  }
  for (const char* method : {"dcca", "softcca", "dcca-deeplda", "mcca", "mvda"}) {
    EXPECT_THAT(message(method), HasSubstr("samples with all 2 views: got 0, need at least 3")) << method;
  }
}

TEST(Fit, AnInterruptedTrainingKeepsItsMessage) {
  std::atomic<bool> cancel = false;
  Context context;
  context.cancel = &cancel;
  context.progress = [&](const Progress& p) { cancel = cancel || (p.task == "train" && p.done > 2); };
  const FitResult result = fit(make_shared(120, 3, 0.3, 1), nullptr, quick("dcca"), context);
  EXPECT_EQ(result.summary.status, TrainStatus::interrupted);
  EXPECT_THAT(result.summary.message, HasSubstr("interrupted in epoch"));
  EXPECT_EQ(result.model.classifiers.at(0).cost, 1) << "no cost was tried";
}

// A model whose classifier was cut short is not a completed one, whatever was done before.
TEST(Fit, InterruptedWhileTheClassifierIsFittedIsInterrupted) {
  for (const char* method : {"dcca", "softcca", "cca", "gcca", "svm", "logistic"}) {
    std::atomic<bool> cancel = false;
    std::string warning;
    Context context;
    context.cancel = &cancel;
    context.log = [&](LogLevel, std::string_view text) { warning += text; };
    context.progress = [&](const Progress& p) { cancel = cancel || (p.task != "train" && p.done > 0); };
    const FitResult result = fit(make_shared(120, 3, 0.3, 1), nullptr, quick(method), context);
    ASSERT_TRUE(cancel) << method;
    EXPECT_EQ(result.summary.status, TrainStatus::interrupted) << method;
    EXPECT_THAT(result.summary.message, HasSubstr("interrupted while the classifier was fitted")) << method;
    EXPECT_THAT(warning, HasSubstr("interrupted while the classifier was fitted")) << method;
  }
}

TEST(Fit, InterruptedBeforeAnEpochEndedThereIsNothingToReturn) {
  for (const char* method : {"nn", "ccal-ce", "dcca"}) {
    std::atomic<bool> cancel = false;
    Context context;
    context.cancel = &cancel;
    context.progress = [&](const Progress&) { cancel = true; };
    EXPECT_THROW(fit(make_shared(120, 3, 0.3, 1), nullptr, quick(method), context), Interrupted) << method;
  }
}

TEST(Fit, MethodsThatTreatEachViewAloneNeedLabelsInEach) {
  Dataset half = make_shared(120, 3, 0.3, 1);
  for (std::size_t i = 0; i < 120; ++i) {
    if (i % 2 == 0) half.labels.codes[i] = -1;
    if (i % 2 == 1) half.views.views[1].row_of_sample[i] = -1;
  }
  for (const char* method : {"nn", "svm", "lda", "logistic"}) {
    EXPECT_THAT(error_message<InputError>([&] { fit(half, nullptr, quick(method), {}); }),
                HasSubstr("view 'right': its 60 samples have labels of 0 classes, need at least 2"))
        << method;
  }
  EXPECT_NO_THROW(fit(half, nullptr, quick("tocca-nd"), {})) << "its head is shared";
}

TEST(Fit, NeedsWhatItNeedsAndSaysSo) {
  const Dataset good = make_shared(60, 3, 0.3, 1);
  const auto message = [&](const Dataset& data, const Options& options) {
    return error_message<InputError>([&] { fit(data, nullptr, options, {}); });
  };
  Dataset unlabelled = good;
  std::fill(unlabelled.labels.codes.begin(), unlabelled.labels.codes.end(), -1);
  EXPECT_THAT(message(unlabelled, quick("tocca-w")), HasSubstr("method 'tocca-w' needs labels: got none"));
  Dataset single = good;
  std::fill(single.labels.codes.begin(), single.labels.codes.end(), 1);
  EXPECT_THAT(message(single, quick("svm")), HasSubstr("classes with training samples: got 1, need at least 2"));
  Dataset rare = good;
  std::replace(rare.labels.codes.begin(), rare.labels.codes.end(), 3, 2);
  rare.labels.codes[7] = 3;
  EXPECT_THAT(message(rare, quick("tocca-sd")), HasSubstr("class 'd': got 1 training sample, need at least 2"));
  Dataset alone = good;
  alone.views.views.pop_back();
  EXPECT_THAT(message(alone, quick("tocca-w")), HasSubstr("method 'tocca-w': got 1 view, need at least 2"));
  EXPECT_THAT(message(alone, quick("cca")), HasSubstr("method 'cca': got 1 view, need 2"));
  EXPECT_THAT(message(good, quick("tocca")), HasSubstr("unknown method 'tocca': did you mean"));
  Options batch = quick("tocca-w");
  batch.covariance = "batch";
  batch.n_components = 40;
  EXPECT_THAT(message(good, batch), HasSubstr("batch_size: got 32, need more than n_components = 40"));
  Dataset flat = good;
  flat.views.views[1].values = Table(Matrix<double>(Matrix<double>::Ones(60, 6)));
  EXPECT_THAT(message(flat, quick("rcca")), HasSubstr("view 'right': all 6 columns are constant"));
}

TEST(Fit, TooManyComponentsAreLoweredWithAWarning) {
  std::vector<std::string> warnings;
  Context context;
  context.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) warnings.emplace_back(text);
  };
  Options options = quick("rcca");
  options.n_components = 50;
  const FittedModel model = fit(make_shared(100, 3, 0.3, 1), nullptr, options, context).model;
  EXPECT_EQ(model.components(), 6);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "n_components: got 50, lowered to 6, the rank of view 'right'");
}

TEST(Fit, SamplesThatAreAllDroppedAreAnErrorOfTheirOwn) {
  Dataset data = make_shared(40, 3, 0.3, 1);
  Matrix<double> rows(40, 8);
  data.views.views[0].values.read_rows(data.views.views[0].row_of_sample, rows);
  rows.col(5).setConstant(std::numeric_limits<double>::quiet_NaN());
  data.views.views[0].values = Table(rows);
  Options options = quick("tocca-w");
  options.missing = "drop";
  EXPECT_THAT(error_message<InputError>([&] { fit(data, nullptr, options, {}); }),
              HasSubstr("missing = drop: all 40 training samples have missing values"));
}

TEST(Fit, DirectionsThatAreLeftOutAreTold) {
  Dataset data = make_shared(100, 3, 0.3, 1);
  Matrix<double> rows(100, 8);
  data.views.views[0].values.read_rows(data.views.views[0].row_of_sample, rows);
  rows.col(5) = rows.col(0) + rows.col(1);
  data.views.views[0].values = Table(rows);
  std::string told;
  Context context;
  context.log = [&](LogLevel, std::string_view text) { told += std::string(text) + '\n'; };
  const auto tell = [&](const char* method) {
    told.clear();
    fit(data, nullptr, quick(method), context);
    return told;
  };
  EXPECT_THAT(tell("cca"), HasSubstr("view 'left': 1 of 8 directions are left out"));
  EXPECT_THAT(tell("rcca"), ::testing::Not(HasSubstr("left out")));
}

TEST(Fit, ComponentsThatANetworkCannotTellApartAreWarnedOf) {
  std::vector<std::string> warnings;
  Context context;
  context.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) warnings.emplace_back(text);
  };
  const Dataset data = make_shared(60, 3, 0.3, 1);
  Options options = quick("tocca-nd");
  options.epochs = 1;
  options.hidden_size = options.n_components = 8;
  fit(data, nullptr, options, context);
  EXPECT_THAT(warnings, ::testing::IsEmpty());
  options.n_components = 9;
  fit(data, nullptr, options, context);
  options.hidden_layers = 0;
  options.n_components = 7;
  fit(data, nullptr, options, context);
  EXPECT_THAT(warnings,
              ::testing::ElementsAre(HasSubstr("n_components: got 9, but what it is computed from has 8 hidden units"),
                                     HasSubstr("n_components: got 7, but what it is computed from has 6 columns")));
}

}  // namespace
}  // namespace tocca
