#include "tocca/evaluate/logistic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/metrics/classification.h"
#include "tocca/testing/clouds.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using testing::Clouds;
using testing::make_clouds;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

LinearClassifier fit(const Clouds& data, int class_count, const LogisticOptions& options = {},
                     const Context& context = {}) {
  return fit_logistic(data.x, data.y, class_count, options, Rng(1), context);
}

TEST(Logistic, GoldenValues) {
  const testing::Golden golden("logistic", "linear_reference.json");
  const Clouds data{golden.matrix("x"), golden.integers("y")};
  for (const testing::Golden& want : golden.list("fits")) {
    const LinearClassifier fitted = fit(data, 3, {.costs = {want.number("cost")}, .tolerance = 1e-10});
    // Both solvers stop where the objective no longer falls in its last digits: half as many digits of the weights.
    EXPECT_LT(testing::max_error(fitted.scores(data.x), want.matrix("scores")), 1e-5) << want.number("cost");
    EXPECT_EQ(fitted.cost, want.number("cost"));
  }
}

TEST(Logistic, EveryClassIsAtTheMinimumOfItsObjective) {
  for (const int class_count : {2, 4}) {
    const Clouds data = make_clouds(120, 4, class_count, 0.7);
    const LinearClassifier fitted = fit(data, class_count, {.costs = {3}, .tolerance = 1e-9});
    for (int c = 0; c < class_count; ++c) {
      // w − C Σ y x / (1 + exp(y wᵀx)), the bias feature included
      Vector<double> w(5), x(5), gradient(5), start = Vector<double>::Zero(5);
      w << fitted.weights.col(c), fitted.bias(c);
      gradient = w;
      for (Index i = 0; i < 120; ++i) {
        x << data.x.row(i).transpose(), 1;
        const double sign = data.y[static_cast<std::size_t>(i)] == c ? 1 : -1;
        gradient -= 3 * sign * x / (1 + std::exp(sign * w.dot(x)));
        start -= 3 * sign * x / 2;
      }
      EXPECT_LT(gradient.norm() / start.norm(), 1e-6) << class_count << " " << c;
    }
  }
}

TEST(Logistic, ScoresAreLogOdds) {
  // Without structure in x, the bias alone carries the shares of the classes.
  Clouds data{Matrix<double>::Zero(400, 1), std::vector<int>(400, 0)};
  std::fill(data.y.begin() + 100, data.y.end(), 1);
  const LinearClassifier fitted = fit(data, 2, {.costs = {1000}, .tolerance = 1e-9});
  EXPECT_NEAR(fitted.bias(1), std::log(3.0), 1e-4);
  EXPECT_NEAR(fitted.bias(0), -std::log(3.0), 1e-4);
}

TEST(Logistic, SearchFindsTheCostThatGeneralises) {
  Clouds data = make_clouds(1100, 60, 2, 0.12);
  const Clouds test{data.x.bottomRows(1000), {data.y.begin() + 100, data.y.end()}};
  const Clouds training{data.x.topRows(100), {data.y.begin(), data.y.begin() + 100}};
  const LinearClassifier searched = fit(training, 2), large = fit(training, 2, {.costs = {16}});
  EXPECT_LT(searched.cost, 4);
  EXPECT_GT(accuracy(searched.predict(test.x), test.y), accuracy(large.predict(test.x), test.y));
}

TEST(Logistic, SameResultForAnyNumberOfThreads) {
  const Clouds data = make_clouds(200, 8, 3, 0.5);
  const LinearClassifier one = fit(data, 3), other = fit(data, 3, {}, make_context(3));
  EXPECT_EQ(one.cost, other.cost);
  EXPECT_EQ(one.weights, other.weights);
}

TEST(Logistic, ClassesWithoutSamplesAndRowsWithoutLabels) {
  Clouds data = make_clouds(60, 3, 2, 2);
  for (int& code : data.y) code = code == 0 ? 1 : 3;
  data.y[5] = -1;
  data.x(5, 0) = std::numeric_limits<double>::quiet_NaN();
  const LinearClassifier fitted = fit(data, 5);
  EXPECT_EQ(fitted.bias(0), LinearClassifier::kNeverPredicted);
  EXPECT_THAT(fitted.predict(data.x.bottomRows(50)), ::testing::Each(::testing::AnyOf(1, 3)));
}

TEST(Logistic, NamesItselfInMessages) {
  Clouds data = make_clouds(20, 2, 2, 1);
  EXPECT_THAT([&] { fit(data, 2, {.folds = 1}); },
              ThrowsMessage<InputError>(StrEq("[logistic] folds: got 1, need at least 2; use 5")));
  EXPECT_THAT([&] { fit(data, 1); }, ThrowsMessage<InputError>(StrEq("[logistic] class of row 1 (counted from 0): got "
                                                                     "1, need -1 to 0; mend the labels")));
  std::string warning, task;
  Context context;
  context.log = [&](LogLevel, std::string_view text) { warning = text; };
  context.progress = [&](const Progress& state) { task = state.task; };
  fit(data, 2, {}, context);
  EXPECT_EQ(task, "logistic");
  data.y.back() = 2;
  fit(data, 3, {}, context);
  EXPECT_THAT(warning, ::testing::StartsWith("[logistic] a class has a single sample"));
}

}  // namespace
}  // namespace tocca
