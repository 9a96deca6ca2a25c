#include "tocca/evaluate/lda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

Matrix<double> log_posterior(Matrix<double> scores) {
  for (Index i = 0; i < scores.rows(); ++i) {
    const double most = scores.row(i).maxCoeff();
    scores.row(i).array() -= most + std::log((scores.row(i).array() - most).exp().sum());
  }
  return scores;
}

TEST(Lda, GoldenValues) {
  for (const char* name : {"lda_tall", "lda_wide"}) {
    const testing::Golden golden(name, "linear_reference.json");
    const Matrix<double> x = golden.matrix("x");
    for (const testing::Golden& want : golden.list("fits")) {
      const LinearClassifier lda = fit_lda(x, golden.integers("y"), 3, {.shrinkage = want.number("shrinkage")});
      EXPECT_LT(max_error(log_posterior(lda.scores(x)), want.matrix("log_posterior")), 1e-9)
          << name << " " << want.number("shrinkage");
      EXPECT_EQ(lda.cost, 0);
    }
  }
}

TEST(Lda, SolvesTheShrunkCovarianceOnBothPaths) {
  for (const Index n : {60, 12}) {  // more and fewer samples than columns
    const Clouds data = make_clouds(n, 20, 3, 1);
    const LinearClassifier lda = fit_lda(data.x, data.y, 3, {.shrinkage = 0.2});
    Matrix<double> means = Matrix<double>::Zero(3, 20), within = data.x;
    for (Index i = 0; i < n; ++i) means.row(i % 3) += data.x.row(i) * 3 / static_cast<double>(n);
    for (Index i = 0; i < n; ++i) within.row(i) -= means.row(i % 3);
    const Matrix<double> s = within.transpose() * within / static_cast<double>(n);
    const Matrix<double> shrunk = 0.8 * s + 0.2 * s.trace() / 20 * Matrix<double>::Identity(20, 20);
    EXPECT_LT(max_error(shrunk * lda.weights, (means.rowwise() - means.colwise().mean()).transpose()), 1e-12);
  }
}

TEST(Lda, ShrinkageGeneralisesBetterFromFewSamples) {
  const Clouds data = make_clouds(1060, 40, 2, 0.25);
  const Clouds test{data.x.bottomRows(1000), {data.y.begin() + 60, data.y.end()}};
  const std::vector<int> y(data.y.begin(), data.y.begin() + 60);
  const auto score = [&](double shrinkage) {
    const LinearClassifier lda = fit_lda(data.x.topRows(60), y, 2, {.shrinkage = shrinkage});
    return accuracy(lda.predict(test.x), test.y);
  };
  EXPECT_GT(score(LdaOptions::kLedoitWolf), score(0) + 0.03);
}

TEST(Lda, PriorsAreTheSharesOfTheClasses) {
  // Two classes at −1 and +1, three times as many of the second: equal scores lie where the densities are as 3 to 1.
  const Matrix<double> x = (Matrix<double>(8, 1) << -1.5, -0.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5).finished();
  const LinearClassifier lda = fit_lda(x, std::vector<int>{0, 0, 1, 1, 1, 1, 1, 1}, 2, {.shrinkage = 0});
  const double variance = 0.25, boundary = -std::log(3.0) * variance / 2;
  const Matrix<double> scores = lda.scores(Matrix<double>::Constant(1, 1, boundary));
  EXPECT_NEAR(scores(0, 0), scores(0, 1), 1e-12);
  EXPECT_NEAR(lda.weights(0, 1) - lda.weights(0, 0), 2 / variance, 1e-12);
}

TEST(Lda, DegenerateColumnsChangeNothing) {
  const Clouds data = make_clouds(60, 4, 3, 1);
  Matrix<double> wide(60, 7);
  wide << data.x, Vector<double>::Constant(60, 1e6), data.x.col(1), data.x.col(0) - 3 * data.x.col(2);
  const Matrix<double> want = log_posterior(fit_lda(data.x, data.y, 3, {.shrinkage = 0}).scores(data.x));
  const LinearClassifier lda = fit_lda(wide, data.y, 3, {.shrinkage = 0});
  EXPECT_LT(max_error(log_posterior(lda.scores(wide)), want), 1e-9);
  // The pseudo-inverse has nothing along the null directions.
  Matrix<double> null(3, 7);
  null << 0, 0, 0, 0, 1, 0, 0,  //
      0, 1, 0, 0, 0, -1, 0,     //
      1, 0, -3, 0, 0, 0, -1;
  EXPECT_LT(max_error(null * lda.weights, Matrix<double>::Zero(3, 3)), 1e-9);
}

TEST(Lda, MovedDataHaveTheSamePosteriors) {
  const Clouds data = make_clouds(60, 4, 3, 1);
  const Matrix<double> moved = data.x.array() + 1000;
  EXPECT_LT(max_error(log_posterior(fit_lda(moved, data.y, 3).scores(moved)),
                      log_posterior(fit_lda(data.x, data.y, 3).scores(data.x))),
            1e-8);
}

TEST(Lda, ManyMoreColumnsThanSamples) {
  const Clouds data = make_clouds(30, 20000, 3, 0.1);  // a covariance would take 3 GB
  EXPECT_EQ(accuracy(fit_lda(data.x, data.y, 3).predict(data.x), data.y), 1);
}

TEST(Lda, UnlabelledRowsAreLeftOut) {
  const Clouds data = make_clouds(30, 4, 3, 1);
  Matrix<double> more(33, 4);
  more << data.x.topRows(7), Matrix<double>::Constant(3, 4, std::numeric_limits<double>::quiet_NaN()),
      data.x.bottomRows(23);
  std::vector<int> y = data.y;
  y.insert(y.begin() + 7, 3, -1);
  const LinearClassifier want = fit_lda(data.x, data.y, 3), got = fit_lda(more, y, 3);
  EXPECT_EQ(got.weights, want.weights);
  EXPECT_EQ(got.bias, want.bias);
}

TEST(Lda, ClassesWithoutSamplesAreNeverPredicted) {
  Clouds data = make_clouds(40, 3, 2, 1);
  const LinearClassifier want = fit_lda(data.x, data.y, 2);
  for (int& code : data.y) code = code == 0 ? 1 : 3;
  const LinearClassifier lda = fit_lda(data.x, data.y, 5);
  EXPECT_EQ(lda.weights.cols(), 5);
  EXPECT_EQ(lda.bias(0), LinearClassifier::kNeverPredicted);
  EXPECT_EQ(lda.bias(4), LinearClassifier::kNeverPredicted);
  EXPECT_TRUE(lda.scores(data.x).allFinite());
  EXPECT_EQ(lda.weights.col(3), want.weights.col(1));
  EXPECT_THAT(lda.predict(data.x), ::testing::Each(::testing::AnyOf(1, 3)));
}

TEST(Lda, AClassMayHaveOneSample) {
  Clouds data = make_clouds(41, 3, 2, 1);
  data.y.back() = 2;
  EXPECT_TRUE(fit_lda(data.x, data.y, 3).scores(data.x).allFinite());
}

TEST(Lda, RefusesBadData) {
  const Clouds data = make_clouds(6, 2, 2, 1);
  const auto with = [&](std::vector<int> y) { return [&data, y] { fit_lda(data.x, y, 3); }; };
  EXPECT_THAT(with({0, 1, 0}), ThrowsMessage<InputError>(StrEq(
                                   "[lda] number of labels: got 3, need 6, one for each row; use -1 for unlabelled")));
  EXPECT_THAT(
      with({0, 1, 0, 1, 3, 0}),
      ThrowsMessage<InputError>(StrEq("[lda] class of row 4 (counted from 0): got 3, need -1 to 2; mend the labels")));
  EXPECT_THAT(with({1, 1, 1, -1, 1, 1}),
              ThrowsMessage<InputError>(
                  StrEq("[lda] classes with samples: got 1, need at least 2; add labelled samples of others")));
  EXPECT_THAT(with({0, 1, -1, -1, -1, 2}),
              ThrowsMessage<InputError>(StrEq("[lda] variance within classes: got 0, need more; add samples, or a "
                                              "column that varies in a class")));
  Clouds bad = data;
  bad.x(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { fit_lda(bad.x, bad.y, 2); },
              ThrowsMessage<InputError>(StrEq("[lda] x, row 3, column 1 (counted from 0): got inf, need a finite "
                                              "number; impute it or drop the row")));
}

TEST(Lda, RefusesBadOptions) {
  const Clouds data = make_clouds(6, 2, 2, 1);
  EXPECT_THAT([&] { fit_lda(data.x, data.y, 2, {.shrinkage = 1.5}); },
              ThrowsMessage<InputError>(StrEq("[lda] shrinkage: got 1.5, need 0 to 1, or -1 for Ledoit-Wolf; use -1")));
  EXPECT_THAT([&] { fit_lda(data.x, data.y, 2, {.rank_tolerance = 1}); },
              ThrowsMessage<InputError>(StrEq("[lda] rank_tolerance: got 1, need 0 <= rank_tolerance < 1; use 1e-10")));
}

}  // namespace
}  // namespace tocca
