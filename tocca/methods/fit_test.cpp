// Fitting end to end: statistical sanity, and what single methods must do. For all methods see conformance_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tocca/core/error.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/methods/test_fits.h"
#include "tocca/metrics/classification.h"
#include "tocca/testing/error_message.h"
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
  const auto weights = [&](const Dataset& training) -> Vector<float> {
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

}  // namespace
}  // namespace tocca
