// Fitting end to end: statistical sanity, and what single methods must do. For all methods see conformance_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "tocca/core/error.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/methods/test_fits.h"
#include "tocca/metrics/classification.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::Contains;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Pair;
using tocca::testing::error_message;
using tocca::testing::make_dataset;
using tocca::testing::make_shared;
using tocca::testing::make_xor;
using tocca::testing::quick;
using tocca::testing::test_accuracy;

TEST(Fit, SolvesWhatNoLinearMethodSolves) {
  const Dataset training = make_xor(500, 1);
  const Dataset test = make_xor(400, 2);
  Options options = quick("tocca-w");
  options.epochs = 40;
  for (const char* method : {"tocca-w", "tocca-sd", "tocca-nd"}) {
    options.method = method;
    const FittedModel model = fit(training, nullptr, options, make_context(2)).model;
    for (const Score& score : cross_view_scores(model, training, test, {}, Rng(1), make_context(2))) {
      EXPECT_GT(score.value, 0.9) << method << " " << score.train_view << " to " << score.test_view;
    }
  }
  for (const char* method : {"svm", "rcca"}) {
    options.method = method;
    EXPECT_LT(test_accuracy(fit(training, nullptr, options, {}).model, test), 0.65) << method;
  }
}

TEST(Fit, IndependentViewsHaveNoHeldOutCorrelation) {
  const Dataset a = make_shared(900, 3, 0.3, 1);
  Dataset b = make_shared(900, 3, 0.3, 2);
  b.views.views[0] = a.views.views[0];  // left from other samples than right
  Options options = quick("rcca");
  options.n_components = 3;
  std::vector<Index> first(600), rest(300);
  std::iota(first.begin(), first.end(), 0);
  std::iota(rest.begin(), rest.end(), 600);
  const FittedModel model = fit(b.select(first), nullptr, options, {}).model;
  const Vector<double> held_out = canonical_correlations(model, model.pairs.at(0), b.select(rest).views, {});
  EXPECT_LT(std::abs(held_out.sum()), 0.3);
}

// x_v = z + noise · e_v with unit z and e_v: the canonical correlations are 1 / (1 + noise²).
TEST(Fit, CcaFindsTheCanonicalCorrelationsOfALinearModel) {
  Rng rng(6);
  const Index n = 20000;
  const double noise[] = {0.3, 0.7, 1.5};
  Matrix<double> x1(n, 3), x2(n, 3);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const double z = rng.normal();
      x1(i, j) = z + noise[j] * rng.normal();
      x2(i, j) = z + noise[j] * rng.normal();
    }
  }
  const Matrix<double> mix = Matrix<double>::NullaryExpr(3, 3, [&] { return rng.normal(); });
  const Dataset data = make_dataset({x1 * mix, x2}, std::vector<int>(static_cast<std::size_t>(n), -1), 0);
  for (const char* method : {"cca", "rcca"}) {
    Options options = quick(method);
    options.n_components = 3;
    options.ridge = 1e-6;
    const FittedModel model = fit(data, nullptr, options, make_context(2)).model;
    for (Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(model.pairs.at(0).correlations(j), 1 / (1 + noise[j] * noise[j]), 0.02) << method;
    }
  }
}

TEST(Fit, ThreeViewsOfDifferentWidthsTrainTogether) {
  Dataset data = make_shared(240, 3, 0.3, 1);
  View third = data.views.views[0];
  third.name = "third";
  data.views.views.push_back(third);
  for (const char* method : {"tocca-w", "tocca-sd", "tocca-nd", "nn", "svm"}) {
    const FittedModel model = fit(data, nullptr, quick(method), make_context(2)).model;
    EXPECT_GT(test_accuracy(model, data), 0.8) << method;
  }
}

// Classes at the corners of a simplex, so that each view tells them apart, and knows that it does not know one.
TEST(Fit, AClassThatOneViewNeverMetIsPredictedFromTheOther) {
  const auto corners = [](std::uint64_t seed) {
    Rng rng(seed);
    Matrix<double> left(160, 4), right(160, 4);
    std::vector<int> codes;
    for (Index i = 0; i < 160; ++i) {
      codes.push_back(static_cast<int>(i % 4));
      for (Index j = 0; j < 4; ++j) {
        left(i, j) = (j == i % 4 ? 3 : 0) + 0.3 * rng.normal();
        right(i, j) = (j == i % 4 ? 3 : 0) + 0.3 * rng.normal();
      }
    }
    return make_dataset({left, right}, codes, 4);
  };
  Dataset training = corners(1);
  for (std::size_t i = 0; i < 160; ++i) {
    if (training.labels.codes[i] == 3) training.views.views[1].row_of_sample[i] = -1;
  }
  const Dataset test = corners(2);
  const FittedModel model = fit(training, nullptr, quick("svm"), {}).model;
  EXPECT_GT(test_accuracy(model, test), 0.95);
  Dataset right = test;
  right.views.views.erase(right.views.views.begin());
  const std::vector<int> predicted = predict(model, match_views(model, right.views, {}), {}).codes;
  EXPECT_EQ(std::count(predicted.begin(), predicted.end(), 3), 0) << "the right view alone cannot know";
}

TEST(Fit, RowsWithGapsAreDroppedWhereverAModelFittedThatWayIsUsed) {
  Dataset training = make_shared(120, 3, 0.3, 1);
  Matrix<double> left(120, 8);
  std::vector<Index> all(120);
  std::iota(all.begin(), all.end(), 0);
  training.views.views[0].values.read_rows(all, left);
  left(4, 2) = std::numeric_limits<double>::quiet_NaN();
  training.views.views[0].values = Table(left);
  const auto message = [&](const char* missing) {
    Options options = quick("tocca-nd");
    options.missing = missing;
    return error_message<InputError>([&] { fit(training, nullptr, options, {}); });
  };
  EXPECT_THAT(message("error"), HasSubstr("or fit with --missing mean or --missing drop"));
  Options options = quick("tocca-nd");
  options.missing = "drop";
  const FittedModel dropping = fit(training, nullptr, options, {}).model;
  const Views matched = match_views(dropping, training.views, {});
  EXPECT_FALSE(matched.views[0].has(4));
  EXPECT_TRUE(matched.views[1].has(4));
  EXPECT_GE(predict(dropping, matched, {}).codes[4], 0);
  options.missing = "error";
  const FittedModel strict = fit(make_shared(120, 3, 0.3, 1), nullptr, options, {}).model;
  EXPECT_THAT(error_message<InputError>([&] { predict(strict, match_views(strict, training.views, {}), {}); }),
              HasSubstr("or fit with --missing mean or --missing drop"));
}

TEST(Fit, ScoresNeedTheClassesOfTheModel) {
  const Dataset data = make_shared(120, 3, 0.3, 1);
  const FittedModel model = fit(data, nullptr, quick("tocca-nd"), {}).model;
  Dataset other = data;
  other.labels.classes = {"b", "a", "c", "d"};
  EXPECT_EQ(error_message<InputError>([&] { model_scores(model, other, {}); }),
            "[evaluate] classes: got b, a, c, d, need a, b, c, d; make the labels with the model's classes");
  EXPECT_THROW(cross_view_scores(model, data, other, {}, Rng(1), {}), InputError);
}

TEST(Fit, SaysHowManySamplesWereHeldOut) {
  const Dataset data = make_shared(120, 3, 0.3, 1);
  const auto held_out = [&](const char* method) {
    for (const auto& [name, text] : fit(data, nullptr, quick(method), {}).model.provenance) {
      if (name == "validation_samples") return text;
    }
    return std::string("nothing");
  };
  EXPECT_EQ(held_out("tocca-nd"), "24");
  EXPECT_EQ(held_out("svm"), "0");
}

// Of three patients one whole one, whatever share of the samples that is.
TEST(Fit, EarlyStoppingHoldsOutWholeGroups) {
  Dataset data = make_shared(120, 3, 0.3, 1);
  for (Index i = 0; i < 120; ++i) data.groups.push_back(i / 40);
  for (const char* fusion : {"late", "early"}) {
    Options options = quick("nn");
    options.fusion = fusion;
    const auto& provenance = fit(data, nullptr, options, {}).model.provenance;
    EXPECT_THAT(provenance, Contains(Pair(Eq("validation_samples"), Eq("40")))) << fusion;
  }
  data.groups.assign(120, 0);
  EXPECT_THAT(error_message<InputError>([&] { fit(data, nullptr, quick("nn"), {}); }),
              HasSubstr("got 120 samples of one group"));
}

// A network that learns from labels alone has the same batches, and so the same bits, without the samples that have
// none.
TEST(Fit, UnlabelledSamplesAreNoPartOfATrainingThatCannotUseThem) {
  Dataset data = make_shared(120, 3, 0.3, 1);
  std::vector<Index> labelled;
  for (Index i = 0; i < 120; ++i) {
    if (i % 3 == 0) {
      labelled.push_back(i);
    } else {
      data.labels.codes[static_cast<std::size_t>(i)] = -1;
    }
  }
  const Dataset test = make_shared(50, 3, 0.3, 2);
  const auto scores = [&](const char* method, const Dataset& training) {
    Options options = quick(method);
    options.standardize = "none";
    options.validation = 0;
    const FittedModel model = fit(training, nullptr, options, {}).model;
    return class_scores(model, test.views, 0, test.views.with_every_view(), {});
  };
  EXPECT_EQ(scores("nn", data), scores("nn", data.select(labelled)));
  EXPECT_NE(scores("tocca-nd", data), scores("tocca-nd", data.select(labelled))) << "agreement learns from all";
}

// The view has enough labels until others are kept for the experiment.
TEST(Fit, AViewThatKeepsNoLabelsSaysSo) {
  Dataset data = make_shared(120, 3, 0.3, 1);
  for (std::size_t i = 8; i < 120; ++i) data.views.views[1].row_of_sample[i] = -1;
  Options options = quick("nn");
  options.validation = 0;
  options.label_fraction = 0.05;
  EXPECT_THAT(error_message<InputError>([&] { fit(data, nullptr, options, {}); }),
              HasSubstr("view 'right': got 1 training samples that are labelled, need 2"));
}

// What it is for: pre-training learns from the unlabelled ones.
TEST(Fit, PretrainingUsesUnlabelledSamples) {
  Dataset data = make_shared(120, 3, 0.3, 1);
  std::vector<Index> labelled;
  for (Index i = 0; i < 120; ++i) {
    if (i % 3 == 0) labelled.push_back(i);
    if (i % 3 != 0) data.labels.codes[static_cast<std::size_t>(i)] = -1;
  }
  const auto weights = [&](const Dataset& training) {
    Options options = quick("tocca-nd");
    options.agreement = "none";
    options.pretraining = "trace-norm";
    options.standardize = "none";
    options.validation = 0;
    return fit(training, nullptr, options, {}).model.network->parameters.values();
  };
  const auto all = weights(data), some = weights(data.select(labelled));
  EXPECT_FALSE(std::equal(all.begin(), all.end(), some.begin(), some.end()));
}

// Thirty correlations of the same size: the canonical directions of one batch are turned against those of the next, and
// a head that is learnt in them is lost.
TEST(Fit, AHeadIsLearntInTheAlignedBasisOfTiedCorrelations) {
  const auto tied = [](std::uint64_t seed) {
    Rng rng(seed);
    const auto normal = [&] {
      return Matrix<double>(Matrix<double>::NullaryExpr(400, 30, [&] { return rng.normal(); }));
    };
    const Matrix<double> hidden = normal();
    std::vector<int> codes;
    for (Index i = 0; i < 400; ++i) codes.push_back((hidden(i, 0) > 0 ? 1 : 0) + (hidden(i, 1) > 0 ? 2 : 0));
    return make_dataset({hidden + 0.3 * normal(), hidden + 0.3 * normal()}, codes, 4);
  };
  const Dataset training = tied(1), test = tied(2);
  Options options = quick("ccal-ce");
  options.n_components = 30;
  options.hidden_layers = 0;
  const auto accuracy_in = [&](const char* basis) {
    options.cca_basis = basis;
    return test_accuracy(fit(training, {}, options, {}).model, test);
  };
  const double aligned = accuracy_in("aligned");
  EXPECT_GT(aligned, 0.75);
  EXPECT_GT(aligned, accuracy_in("canonical"));
}

TEST(Fit, SaysWhatGroupsTakeAway) {
  Dataset data = make_shared(120, 3, 0.3, 1);
  for (Index i = 0; i < 120; ++i) data.groups.push_back(data.labels.codes[static_cast<std::size_t>(i)]);
  std::string warnings;
  Context context;
  context.log = [&](LogLevel, std::string_view text) { warnings += text; };
  fit(data, nullptr, quick("nn"), context);
  EXPECT_THAT(warnings, HasSubstr("all its samples are of the groups that are held out"));
  data.groups.pop_back();
  EXPECT_THAT(error_message<InputError>([&] { fit(data, nullptr, quick("svm"), {}); }),
              HasSubstr("groups: got 119, need 120"));
}

// Every sample twice, with and without the copies in one group: learning by heart looks best to a search that has a
// copy on the other side.
TEST(Fit, SearchesOfCostKeepGroupsTogether) {
  const Dataset once = make_shared(60, 3, 1.5, 1);
  std::vector<Index> doubled;
  for (Index i = 0; i < 120; ++i) doubled.push_back(i % 60);
  Dataset twice = once.select(doubled);
  const auto costs = [&](const char* method) {
    const FittedModel model = fit(twice, nullptr, quick(method), {}).model;
    std::vector<double> found;
    for (const LinearClassifier& classifier : model.classifiers) found.push_back(classifier.cost);
    return found;
  };
  for (const char* method : {"svm", "rcca"}) {
    twice.groups.clear();
    const auto apart = costs(method);
    twice.groups = doubled;
    EXPECT_NE(costs(method), apart) << method;
  }
  const FittedModel model = fit(once, nullptr, quick("rcca"), {}).model;
  const Dataset test = make_shared(400, 3, 1.5, 2);
  const auto across = [&] {
    std::vector<double> values;
    for (const Score& score : cross_view_scores(model, twice, test, {}, Rng(1), {})) values.push_back(score.value);
    return values;
  };
  const auto together = across();
  twice.groups.clear();
  EXPECT_NE(across(), together);
}

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
