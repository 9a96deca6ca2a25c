// The losses of the tasks other than softmax (losses_test.cpp), against the reference program, central differences, and
// the definitions written out.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tocca/ops/cox.h"
#include "tocca/ops/lda_loss.h"
#include "tocca/ops/multilabel.h"
#include "tocca/ops/ranking.h"
#include "tocca/ops/regression.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using tocca::testing::Golden;
using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::random_matrix;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Kept from one batch to the next within a test, as training keeps them.
Workspace work;
LdaLossScratch lda_scratch;

struct Result {
  double loss;
  Matrix<double> d;
};

Result lda(const Matrix<double>& h, const std::vector<int>& labels, const LdaLossOptions& options = {},
           double weight = 1) {
  Result result{0, Matrix<double>::Zero(h.rows(), h.cols())};
  result.loss = lda_loss<double>(h, labels, options, weight, result.d, lda_scratch);
  return result;
}

void check_lda(const Matrix<double>& h, const std::vector<int>& labels, const LdaLossOptions& options) {
  const Result at = lda(h, labels, options, 0.7);
  EXPECT_LT(at.loss, 0);
  const auto loss = [&](const Matrix<double>& x) { return 0.7 * lda(x, labels, options).loss; };
  EXPECT_LT(max_gradient_error(loss, h, at.d), 1e-7);
}

TEST(LdaLoss, AgreesWithTheReference) {
  const Golden golden("deep_lda");
  const Result at = lda(golden.matrix("H"), golden.integers("labels"),
                        {.ridge = golden.number("r"), .threshold = golden.number("threshold")});
  EXPECT_NEAR(at.loss, golden.number("loss"), 1e-11);
  EXPECT_LT(max_error(at.d, golden.matrix("dH")), 1e-11);
}

// The mean of all eigenvalues, and through it that the threshold leaves the larger ones out.
TEST(LdaLoss, ThresholdChoosesTheEigenvalues) {
  const Golden golden("deep_lda");
  const Matrix<double> h = golden.matrix("H");
  const Vector<double> e = golden.vector("eigenvalues");
  const double gap = e(1) - e(0);
  const auto loss = [&](double threshold) {
    return lda(h, golden.integers("labels"), {.ridge = golden.number("r"), .threshold = threshold}).loss;
  };
  EXPECT_NEAR(loss(1.01 * gap), -e.mean(), 1e-11);
  EXPECT_NEAR(loss(0.99 * gap), -e(0), 1e-11);
}

TEST(LdaLoss, GradientAgreesWithCentralDifferences) {
  Rng rng(1);
  const std::vector<int> labels{0, 1, -1, 2, 0, 1, 2, -1, 0, 4, 4, 1};
  check_lda(random_matrix(rng, 12, 5), labels, {.ridge = 0.5, .threshold = 100});
  check_lda(random_matrix(rng, 12, 2), labels, {.ridge = 0.5, .threshold = 100});  // fewer columns than C − 1
  check_lda(random_matrix(rng, 12, 15), labels, {.ridge = 0.5, .threshold = 0.1});
}

TEST(LdaLoss, GradientWithAClassOfOneSample) {
  Rng rng(2);
  const Matrix<double> h = random_matrix(rng, 7, 3);
  check_lda(h, {0, 0, 1, -1, 0, 2, 2}, {.ridge = 0.5, .threshold = 100});
  const Result with = lda(h, {0, 0, 1, -1, 0, 2, 2}), without = lda(h, {0, 0, -1, -1, 0, 2, 2});
  EXPECT_NE(with.loss, without.loss);
  EXPECT_FALSE(with.d.row(2).isZero(0));
  EXPECT_TRUE(with.d.row(3).isZero(0));
}

// Two columns alike and a constant one: S_w has a repeated smallest eigenvalue, r.
TEST(LdaLoss, GradientWithRepeatedEigenvalues) {
  Rng rng(3);
  Matrix<double> h = random_matrix(rng, 9, 4);
  h.col(1) = h.col(0);
  h.col(3).setConstant(2);
  check_lda(h, {0, 0, 0, 1, 1, 1, 0, 1, 1}, {.ridge = 0.5});
}

TEST(LdaLoss, TooFewClassesGiveNothing) {
  Rng rng(4);
  const Matrix<double> h = random_matrix(rng, 4, 3);
  for (const std::vector<int>& labels :
       {std::vector{-1, -1, -1, -1}, {1, 1, 1, 1}, {-1, 2, -1, 2}, {0, 1, 2, 3}, {-1, -1, 3, -1}}) {
    const Result at = lda(h, labels);
    EXPECT_EQ(at.loss, 0);
    EXPECT_TRUE(at.d.isZero(0));
  }
}

TEST(LdaLoss, AddsInFloat) {
  Rng rng(5);
  const Matrix<double> h = random_matrix(rng, 8, 3);
  const std::vector<int> labels{0, 1, 0, 1, 0, 1, 1, -1};
  const Result at = lda(h, labels, {.ridge = 0.5});
  Matrix<float> d = Matrix<float>::Ones(8, 3);
  EXPECT_NEAR(lda_loss<float>(h.cast<float>(), labels, {.ridge = 0.5}, 2, d, lda_scratch), at.loss, 1e-5);
  EXPECT_LT(max_error(d.cast<double>(), (1 + 2 * at.d.array()).matrix()), 1e-5);
}

// One in four targets is missing.
Matrix<double> with_gaps(Matrix<double> targets) {
  for (Index i = 0; i < targets.size(); i += 4) targets.data()[i] = kNaN;
  return targets;
}

TEST(MeanSquaredError, IsTheMeanOverPresentTargets) {
  const Matrix<double> targets = (Matrix<double>(2, 2) << 1, kNaN, 3, -2).finished();
  Matrix<double> d = (Matrix<double>(2, 2) << 2, 100, 1, -2).finished();
  EXPECT_DOUBLE_EQ(mean_squared_error<double>(targets, d), (1 + 4 + 0) / 3.0);
  EXPECT_LT(max_error(d, (Matrix<double>(2, 2) << 2, 0, -4, 0).finished() / 3), 1e-15);
}

TEST(MeanSquaredError, GradientAgreesWithCentralDifferences) {
  Rng rng(6);
  const Matrix<double> targets = with_gaps(random_matrix(rng, 5, 3)), predictions = random_matrix(rng, 5, 3);
  const auto loss = [&](Matrix<double> x) { return mean_squared_error<double>(targets, x); };
  Matrix<double> d = predictions;
  mean_squared_error<double>(targets, d);
  EXPECT_LT(max_gradient_error(loss, predictions, d), 1e-8);
}

TEST(BinaryCrossEntropy, IsTheMeanOverPresentTargets) {
  const Matrix<double> targets = (Matrix<double>(2, 2) << 1, kNaN, 0, 0.25).finished();
  Matrix<double> d = (Matrix<double>(2, 2) << 2, 100, 1, -2).finished();
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  const double sum = -std::log(sigmoid(2)) - std::log(1 - sigmoid(1)) - 0.25 * std::log(sigmoid(-2)) -
                     0.75 * std::log(1 - sigmoid(-2));
  EXPECT_NEAR(binary_cross_entropy<double>(targets, d), sum / 3, 1e-14);
  EXPECT_LT(max_error(d, (Matrix<double>(2, 2) << sigmoid(2) - 1, 0, sigmoid(1), sigmoid(-2) - 0.25).finished() / 3),
            1e-15);
}

TEST(BinaryCrossEntropy, GradientAgreesWithCentralDifferences) {
  Rng rng(7);
  const Matrix<double> targets =
      with_gaps(random_matrix(rng, 6, 3).unaryExpr([](double x) { return x > 0 ? 1. : 0.; }));
  const Matrix<double> logits = 5 * random_matrix(rng, 6, 3);
  const auto loss = [&](Matrix<double> x) { return binary_cross_entropy<double>(targets, x); };
  Matrix<double> d = logits;
  binary_cross_entropy<double>(targets, d);
  EXPECT_LT(max_gradient_error(loss, logits, d), 1e-8);
}

TEST(BinaryCrossEntropy, HugeLogitsAreExact) {
  const Matrix<double> targets = (Matrix<double>(1, 4) << 1, 0, 0, 1).finished();
  Matrix<float> d = (Matrix<float>(1, 4) << 1e30F, -1e30F, 1e4F, -1e4F).finished();
  EXPECT_DOUBLE_EQ(binary_cross_entropy<float>(targets, d), 5e3);
  EXPECT_EQ(d, (Matrix<float>(1, 4) << 0, 0, 0.25F, -0.25F).finished());
}

TEST(TargetsOfATask, NoneGivesNothing) {
  const Matrix<double> targets = Matrix<double>::Constant(3, 2, kNaN);
  Matrix<double> d = Matrix<double>::Ones(3, 2);
  EXPECT_EQ(mean_squared_error<double>(targets, d), 0);
  EXPECT_TRUE(d.isZero(0));
  d.setOnes();
  EXPECT_EQ(binary_cross_entropy<double>(targets, d), 0);
  EXPECT_TRUE(d.isZero(0));
  Matrix<double> nothing(0, 2);
  EXPECT_EQ(mean_squared_error<double>(Matrix<double>(0, 2), nothing), 0);
}

Result cox(const std::vector<double>& times, const std::vector<int>& events, CoxTies ties, const Matrix<double>& eta) {
  Result result{0, eta};
  result.loss = cox_loss<double>(times, events, ties, result.d, work);
  return result;
}

TEST(CoxLoss, AgreesWithTheReference) {
  for (const CoxTies ties : {CoxTies::breslow, CoxTies::efron}) {
    const Golden golden(ties == CoxTies::efron ? "cox_efron" : "cox_breslow");
    const Result at =
        cox(golden.get<std::vector<double>>("time"), golden.integers("event"), ties, golden.vector("log_hazard"));
    EXPECT_NEAR(at.loss, golden.number("loss"), 1e-13);
    EXPECT_LT(max_error(at.d, golden.vector("dlog_hazard")), 1e-14);
  }
}

// Times drawn from few values, so that most are tied; some are missing.
TEST(CoxLoss, GradientAgreesWithCentralDifferences) {
  for (const Index m : {1, 2, 9, 40}) {
    Rng rng(static_cast<std::uint64_t>(m));
    std::vector<double> times;
    std::vector<int> events;
    for (Index i = 0; i < m; ++i) {
      times.push_back(i % 7 == 3 ? kNaN : static_cast<double>(rng.below(6)));
      events.push_back(i % 11 == 5 ? -1 : rng.uniform() < 0.7 || i == 0 ? 1 : 0);
    }
    const Matrix<double> eta = 3 * random_matrix(rng, m, 1);
    for (const CoxTies ties : {CoxTies::breslow, CoxTies::efron}) {
      const auto loss = [&](const Matrix<double>& x) { return cox(times, events, ties, x).loss; };
      EXPECT_LT(max_gradient_error(loss, eta, cox(times, events, ties, eta).d), 1e-7);
    }
  }
}

TEST(CoxLoss, MissingRowsAreAsIfTheyWereNotThere) {
  const Matrix<double> all = (Matrix<double>(5, 1) << 0.3, 9, -1, 7, 0.5).finished();
  const Matrix<double> present = (Matrix<double>(3, 1) << 0.3, -1, 0.5).finished();
  const Result with = cox({2, kNaN, 1, 3, 2}, {1, 1, 1, -1, 1}, CoxTies::efron, all);
  const Result without = cox({2, 1, 2}, {1, 1, 1}, CoxTies::efron, present);
  EXPECT_DOUBLE_EQ(with.loss, without.loss);
  EXPECT_LT(max_error(with.d(std::vector{0, 2, 4}, Eigen::all), without.d), 1e-15);
  EXPECT_EQ(with.d(1, 0), 0);
  EXPECT_EQ(with.d(3, 0), 0);
}

TEST(CoxLoss, WithoutAnyEventItIsZero) {
  for (const std::vector<int>& events : {std::vector{0, 0, 0}, {-1, 0, 1}, {-1, -1, -1}}) {
    const Result at = cox({1, 2, kNaN}, events, CoxTies::efron, Matrix<double>::Ones(3, 1));
    EXPECT_EQ(at.loss, 0);
    EXPECT_TRUE(at.d.isZero(0));
  }
}

// Scores far apart in either order of time, and a shift of all, which changes nothing.
TEST(CoxLoss, HugeScoresAreExact) {
  const std::vector<double> times{1, 2, 3, 3};
  const std::vector<int> events{1, 1, 1, 1};
  const auto column = [](double a, double b, double c, double d) {
    return (Matrix<double>(4, 1) << a, b, c, d).finished();
  };
  for (const CoxTies ties : {CoxTies::breslow, CoxTies::efron}) {
    const double both = ties == CoxTies::breslow ? 2 * std::log(2) : std::log(2);
    // The high risks go first: nothing is lost.
    EXPECT_NEAR(cox(times, events, ties, column(4e3, 2e3, -3e3, -3e3)).loss, both / 4, 1e-12);
    // They go last: each of the others loses the whole difference.
    const Result late = cox(times, events, ties, column(-3e3, 0, 2e3, 2e3));
    EXPECT_NEAR(late.loss, (5e3 + 2e3 + 2 * std::log(2) + both) / 4, 1e-9);
    EXPECT_LT(max_error(late.d, column(-1, -1, 1, 1) / 4), 1e-12);
    const Result near = cox(times, events, ties, column(0.1, 0.4, -1, 0.3));
    const Result shifted = cox(times, events, ties, (column(0.1, 0.4, -1, 0.3).array() + 1e5).matrix());
    EXPECT_NEAR(shifted.loss, near.loss, 1e-9);
    EXPECT_LT(max_error(shifted.d, near.d), 1e-9);
    EXPECT_TRUE(cox(times, events, ties, column(1e300, -1e300, 1e300, 1e300)).d.allFinite());
  }
}

TEST(CoxLoss, FloatAgreesWithDouble) {
  const Golden golden("cox_efron");
  Matrix<float> d = golden.vector("log_hazard").cast<float>();
  const double loss =
      cox_loss<float>(golden.get<std::vector<double>>("time"), golden.integers("event"), CoxTies::efron, d, work);
  EXPECT_NEAR(loss, golden.number("loss"), 1e-6);
  EXPECT_LT(max_error(d.cast<double>(), golden.vector("dlog_hazard")), 1e-6);
}

struct PairResult {
  double loss;
  Matrix<double> d1, d2;
};
PairResult ranking(const Matrix<double>& z1, const Matrix<double>& z2, double margin, double weight = 1) {
  PairResult result{0, Matrix<double>::Zero(z1.rows(), z1.cols()), Matrix<double>::Zero(z2.rows(), z2.cols())};
  result.loss = pairwise_ranking_loss<double>(z1, z2, margin, weight, result.d1, result.d2, work);
  return result;
}

double ranking_by_hand(const Matrix<double>& z1, const Matrix<double>& z2, double margin) {
  const auto cosine = [&](Index i, Index j) { return z1.row(i).dot(z2.row(j)) / z1.row(i).norm() / z2.row(j).norm(); };
  double sum = 0;
  Index pairs = 0;
  for (Index i = 0; i < z1.rows(); ++i) {
    for (Index j = 0; j < z1.rows(); ++j) {
      if (i == j) continue;
      sum += std::max(0.0, margin - cosine(i, i) + cosine(i, j)) + std::max(0.0, margin - cosine(i, i) + cosine(j, i));
      pairs += 2;
    }
  }
  return sum / static_cast<double>(pairs);
}

TEST(PairwiseRankingLoss, AgreesWithItsDefinitionAndCentralDifferences) {
  for (const auto& [m, k] : {std::pair<Index, Index>{2, 3}, {6, 4}, {5, 8}, {7, 1}}) {
    Rng rng(static_cast<std::uint64_t>(m));
    const Matrix<double> z1 = random_matrix(rng, m, k), z2 = random_matrix(rng, m, k);
    for (const double margin : {0.0, 0.3, 0.7}) {
      const PairResult at = ranking(z1, z2, margin, 0.7);
      EXPECT_NEAR(at.loss, ranking_by_hand(z1, z2, margin), 1e-14);
      EXPECT_LT(
          max_gradient_error([&](const Matrix<double>& x) { return 0.7 * ranking(x, z2, margin).loss; }, z1, at.d1),
          1e-8);
      EXPECT_LT(
          max_gradient_error([&](const Matrix<double>& x) { return 0.7 * ranking(z1, x, margin).loss; }, z2, at.d2),
          1e-8);
    }
  }
}

TEST(PairwiseRankingLoss, WellSeparatedPairsCostNothing) {
  const Matrix<double> z = Matrix<double>::Identity(4, 4);
  const PairResult at = ranking(z, 3 * z, 0.9);
  EXPECT_EQ(at.loss, 0);
  EXPECT_TRUE(at.d1.isZero(0));
}

TEST(PairwiseRankingLoss, LengthsDoNotMatter) {
  Rng rng(10);
  const Matrix<double> z1 = random_matrix(rng, 3, 4), z2 = random_matrix(rng, 3, 4);
  Matrix<double> scaled = z2;
  scaled.row(0) *= 1e200;
  scaled.row(1) *= 1e-8;
  EXPECT_NEAR(ranking(z1, scaled, 0.5).loss, ranking(z1, z2, 0.5).loss, 1e-14);
}

TEST(PairwiseRankingLoss, ZeroAndHugeRowsStayFinite) {
  Rng rng(8);
  Matrix<double> z1 = random_matrix(rng, 5, 3), z2 = random_matrix(rng, 5, 3);
  z1.row(2).setZero();
  z2.row(4).setConstant(1e-300);
  z2.row(0).setConstant(1e200);
  const PairResult at = ranking(z1, z2, 0.5);
  EXPECT_TRUE(std::isfinite(at.loss));
  EXPECT_TRUE(at.d1.allFinite());
  EXPECT_TRUE(at.d2.allFinite());
  EXPECT_TRUE(at.d1.row(2).isZero(0));
  EXPECT_TRUE(at.d2.row(4).isZero(0));
  EXPECT_EQ(ranking(Matrix<double>::Zero(3, 2), Matrix<double>::Zero(3, 2), 0.5).loss, 0.5);
}

TEST(PairwiseRankingLoss, OneRowGivesNothing) {
  const PairResult at = ranking(Matrix<double>::Ones(1, 2), Matrix<double>::Ones(1, 2), 0.5);
  EXPECT_EQ(at.loss, 0);
  EXPECT_TRUE(at.d1.isZero(0));
  EXPECT_EQ(ranking(Matrix<double>(0, 2), Matrix<double>(0, 2), 0.5).loss, 0);
}

TEST(PairwiseRankingLoss, AddsInFloat) {
  Rng rng(9);
  const Matrix<double> z1 = random_matrix(rng, 6, 3), z2 = random_matrix(rng, 6, 3);
  const PairResult at = ranking(z1, z2, 0.5);
  Matrix<float> d1 = Matrix<float>::Ones(6, 3), d2 = d1;
  EXPECT_NEAR(pairwise_ranking_loss<float>(z1.cast<float>(), z2.cast<float>(), 0.5, 2, d1, d2, work), at.loss, 1e-6);
  EXPECT_LT(max_error(d1.cast<double>(), (1 + 2 * at.d1.array()).matrix()), 1e-5);
  EXPECT_LT(max_error(d2.cast<double>(), (1 + 2 * at.d2.array()).matrix()), 1e-5);
}

}  // namespace
}  // namespace tocca
