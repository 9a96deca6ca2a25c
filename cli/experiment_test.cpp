#include "cli/experiment.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tocca/core/rng.h"
#include "tocca/testing/matchers.h"

namespace tocca::cli {
namespace {

// Images of 4 × 4 pixels whose class shows in both halves.
ExperimentSplit random_split(std::uint64_t seed) {
  Rng rng(seed);
  Matrix<double> images = tocca::testing::random_matrix(rng, 60, 16);
  Labels labels{{}, {"a", "b"}};
  for (Index i = 0; i < 60; ++i) {
    labels.codes.push_back(static_cast<int>(i % 2));
    if (i % 2 == 1) images.row(i).array() += 2;
  }
  const Dataset all{left_and_right(Table(images), 4), labels};
  std::vector<Index> parts[3];
  for (Index i = 0; i < 60; ++i) parts[i / 20].push_back(i);
  return {all.select(parts[0]), all.select(parts[1]), all.select(parts[2])};
}

Experiment small_experiment() {
  Experiment experiment;
  experiment.methods = {"rcca", "svm", "tocca-nd"};
  experiment.options.n_components = 3;
  experiment.options.hidden_size = 8;
  experiment.options.epochs = 3;
  experiment.splits = {random_split(1), random_split(2)};
  return experiment;
}

TEST(LeftAndRight, CutsEveryRowOfPixels) {
  Matrix<float> images(2, 16);
  for (Index i = 0; i < images.size(); ++i) images.data()[i] = static_cast<float>(i);
  const Views views = left_and_right(Table(images), 4);
  EXPECT_EQ(views.views[0].values.type(), NumberType::f4);
  EXPECT_EQ(views.views[0].columns(), 8);
  EXPECT_EQ(views.views[0].values.at(0, 2), 4);   // second row of pixels, first column
  EXPECT_EQ(views.views[1].values.at(0, 2), 6);   // second row, third column
  EXPECT_EQ(views.views[1].values.at(1, 7), 31);  // the last pixel
  EXPECT_EQ(views.views[1].features[2], "y1_x2");
}

TEST(Experiment, GivesARowForEachPairOfViews) {
  const ExperimentResult result = run_experiment(small_experiment(), {});
  EXPECT_FALSE(result.interrupted);
  ASSERT_EQ(result.rows.size(), 4U + 2U + 4U) << "svm has no shared space";
  for (const ResultRow& row : result.rows) {
    EXPECT_EQ(row.n, 20);
    EXPECT_EQ(row.splits, 2);
    EXPECT_EQ(row.metric, "accuracy");
    // Three epochs are too few for a network to align its views.
    const double least = row.method == "tocca-nd" ? 0.0 : 0.6;
    EXPECT_GE(row.mean, least) << row.method << ' ' << row.train_view << ' ' << row.test_view;
  }
}

TEST(Experiment, DoesNotDependOnTheNumberOfThreads) {
  const ExperimentResult one = run_experiment(small_experiment(), {});
  const ExperimentResult three = run_experiment(small_experiment(), make_context(3));
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].mean, three.rows[i].mean);
    EXPECT_EQ(one.rows[i].standard_error, three.rows[i].standard_error);
  }
}

TEST(Experiment, KeepsWhatWasFinishedWhenItIsInterrupted) {
  std::atomic<bool> cancel{false};
  Context context;
  context.cancel = &cancel;
  context.progress = [&](const Progress& state) {
    if (state.done > 2) cancel = true;  // rcca and svm of the first split
  };
  const ExperimentResult result = run_experiment(small_experiment(), context);
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.rows.size(), 6U);
  EXPECT_EQ(result.rows[0].splits, 1);
  EXPECT_FALSE(result.trials[2].finished);
}

}  // namespace
}  // namespace tocca::cli
