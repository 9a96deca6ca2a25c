#include "tocca/linalg/cca.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/covariance.h"
#include "tocca/testing/golden.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

Matrix<double> random(Index rows, Index cols, Rng rng) {
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return rng.normal(); });
}

/// Two views of one latent signal, with noise.
std::pair<Matrix<double>, Matrix<double>> correlated(Index n, Index d1, Index d2) {
  const Rng rng(11);
  const Matrix<double> z = random(n, 3, rng.split("z"));
  return {z * random(3, d1, rng.split("a")) + random(n, d1, rng.split("noise1")),
          z * random(3, d2, rng.split("b")) + random(n, d2, rng.split("noise2"))};
}

double largest(const Matrix<double>& m) { return m.size() == 0 ? 0 : m.cwiseAbs().maxCoeff(); }

Matrix<double> cross(const Matrix<double>& a, const Matrix<double>& b) {
  return centre(a).rows.transpose() * centre(b).rows / static_cast<double>(a.rows() - 1);
}

CcaSolution by_covariances(const Matrix<double>& x1, const Matrix<double>& x2, const CcaOptions& options) {
  return cca_from_covariances(cross(x1, x1), cross(x2, x2), cross(x1, x2), options);
}

/// What defines a solution without a ridge: white variates whose cross-covariance is diag(σ), in order and sign.
void expect_solution(const CcaSolution& s, const Matrix<double>& x1, const Matrix<double>& x2) {
  const Index k = s.correlations.size();
  const Matrix<double> z1 = x1 * s.weights1, z2 = x2 * s.weights2, one = Matrix<double>::Identity(k, k);
  EXPECT_LT(largest(cross(z1, z1) - one), 1e-9);
  EXPECT_LT(largest(cross(z2, z2) - one), 1e-9);
  EXPECT_LT(largest(cross(z1, z2) - Matrix<double>(s.correlations.asDiagonal())), 1e-9);
  for (Index j = 0; j < k; ++j) {
    EXPECT_EQ(s.weights1.col(j).maxCoeff(), s.weights1.col(j).cwiseAbs().maxCoeff());
    EXPECT_GE(s.correlations(j), 0);
    EXPECT_LE(s.correlations(j), 1);
    EXPECT_LE(s.correlations(j), s.correlations(std::max<Index>(j - 1, 0)));
  }
}

TEST(Cca, GoldenValues) {
  for (const char* name : {"cca", "rcca"}) {
    const testing::Golden golden(name);
    const Matrix<double> x1 = golden.matrix("X1"), x2 = golden.matrix("X2");
    const Vector<double> want = golden.vector("singular_values");
    const CcaOptions options{.ridge = golden.number("r")};
    for (const CcaSolution& s : {cca(x1, x2, options), by_covariances(x1, x2, options)}) {
      ASSERT_EQ(s.correlations.size(), want.size()) << name;
      EXPECT_LT(largest((s.correlations - want).cwiseQuotient(want)), 1e-9) << name;
      EXPECT_EQ(s.rank1, 6);
      EXPECT_EQ(s.rank2, 5);
    }
  }
}

class CcaShapes : public ::testing::TestWithParam<std::tuple<Index, Index, Index>> {};
INSTANTIATE_TEST_SUITE_P(AroundTheBoundary, CcaShapes,
                         ::testing::Values(std::tuple{500, 6, 4}, std::tuple{21, 12, 8}, std::tuple{20, 12, 8},
                                           std::tuple{19, 12, 8}, std::tuple{13, 12, 8}, std::tuple{12, 12, 8},
                                           std::tuple{9, 12, 8}, std::tuple{7, 30, 40}, std::tuple{30, 1, 1},
                                           std::tuple{3, 2, 1}, std::tuple{2, 1, 5}));

TEST_P(CcaShapes, VariatesAreWhiteAndPairedInOrder) {
  const auto [n, d1, d2] = GetParam();
  const auto [x1, x2] = correlated(n, d1, d2);
  const CcaSolution s = cca(x1, x2);
  EXPECT_EQ(s.rank1, std::min(n - 1, d1));
  EXPECT_EQ(s.rank2, std::min(n - 1, d2));
  EXPECT_EQ(s.correlations.size(), std::min(s.rank1, s.rank2));
  expect_solution(s, x1, x2);
}

TEST_P(CcaShapes, BothPathsAgree) {
  const auto [n, d1, d2] = GetParam();
  const auto [x1, x2] = correlated(n, d1, d2);
  const Index k = std::min({n - 1, d1, d2});
  // With a ridge the singular values differ from each other, so that the weights are unique.
  for (const double ridge : {0.0, 0.3}) {
    const CcaOptions options{.components = k, .ridge = ridge};
    const CcaSolution direct = cca(x1, x2, options), other = by_covariances(x1, x2, options);
    ASSERT_EQ(direct.correlations.size(), k);
    EXPECT_LT(largest(direct.correlations - other.correlations), 1e-9);
    if (ridge == 0) continue;
    EXPECT_LT(largest(direct.weights1 - other.weights1), 1e-9);
    EXPECT_LT(largest(direct.weights2 - other.weights2), 1e-9);
  }
}

TEST_P(CcaShapes, SwappedViewsHaveTheSameCorrelations) {
  const auto [n, d1, d2] = GetParam();
  const auto [x1, x2] = correlated(n, d1, d2);
  EXPECT_LT(largest(cca(x1, x2).correlations - cca(x2, x1).correlations), 1e-12);
}

TEST(Cca, RecoversKnownCorrelationsAndDirections) {
  const Index n = 100000;
  const Vector<double> truth = (Vector<double>(3) << 0.9, 0.6, 0.2).finished();
  const Rng rng(4);
  const Matrix<double> z1 = random(n, 3, rng.split("z"));
  const Matrix<double> z2 = z1 * truth.asDiagonal() +
                            random(n, 3, rng.split("e")) * (1 - truth.array().square()).sqrt().matrix().asDiagonal();
  const Matrix<double> a = random(3, 3, rng.split("a")), b = random(3, 3, rng.split("b"));
  const CcaSolution s = cca((z1 * a).array() + 5, z2 * b);
  EXPECT_LT(largest(s.correlations - truth), 0.01);
  EXPECT_LT(largest((a * s.weights1).cwiseAbs() - Matrix<double>::Identity(3, 3)), 0.02);
  EXPECT_LT(largest((b * s.weights2).cwiseAbs() - Matrix<double>::Identity(3, 3)), 0.02);
}

TEST(Cca, DropsNullDirectionsOfDegenerateViews) {
  for (const Index n : {200, 9}) {  // through the covariances, and thinly
    const auto [x1, x2] = correlated(n, 4, 3);
    const Vector<double> want = cca(x1, x2).correlations;
    Matrix<double> wide1(n, 7), wide2(n, 4);
    wide1 << x1, x1.col(2), Vector<double>::Constant(n, 0.1), x1.col(0) - 3 * x1.col(1);
    wide2 << Vector<double>::Constant(n, 1e6), x2;
    const CcaSolution s = cca(wide1, wide2);
    EXPECT_EQ(s.rank1, 4);
    EXPECT_EQ(s.rank2, 3);
    ASSERT_EQ(s.correlations.size(), 3);
    EXPECT_LT(largest(s.correlations - want), 1e-9);
    expect_solution(s, wide1, wide2);
    EXPECT_LT(cca(wide1, wide2, {.ridge = 0.1}).correlations.maxCoeff(), want(0));
  }
}

// Units of measurement are no matter of CCA: nothing is dropped for being small beside a column in other units.
TEST(Cca, ScalesOfTheColumnsChangeNothing) {
  RowVector<double> scale1(6), scale2(4);
  scale1 << 1e7, 1, 1e-7, 3, 1, 1e4;
  scale2 << 1, 1e-8, 1, 1e5;
  for (const Index n : {300, 9}) {
    const auto [x1, x2] = correlated(n, 6, 4);
    const Matrix<double> y1 = x1 * scale1.asDiagonal(), y2 = x2 * scale2.asDiagonal();
    const CcaSolution plain = cca(x1, x2, {}), scaled = cca(y1, y2, {});
    EXPECT_EQ(scaled.rank1, std::min<Index>(6, n - 1));
    EXPECT_EQ(scaled.rank2, 4);
    EXPECT_LT(largest(plain.correlations - scaled.correlations), 1e-9) << n;
    EXPECT_LT(
        largest(cross(y1 * scaled.weights1, y2 * scaled.weights2) - Matrix<double>(scaled.correlations.asDiagonal())),
        1e-8)
        << n;
  }
  // With a ridge they are a matter of it, but nothing is dropped either.
  const auto [x1, x2] = correlated(300, 6, 4);
  const CcaSolution ridged = cca(x1 * scale1.asDiagonal(), x2, {.ridge = 1e-3});
  EXPECT_EQ(ridged.rank1, 6);
}

TEST(Cca, RepeatedSamplesOfWideViewsHaveFiniteWeights) {
  // A ridge keeps the directions in which the rows do not vary; their weights are zero, not rounding blown up.
  const auto [a, b] = correlated(10, 40, 30);
  Matrix<double> x1(20, 40), x2(20, 30);
  x1 << a, a;
  x2 << b, b;
  const CcaSolution s = cca(x1, x2, {.ridge = 0.1}), want = by_covariances(x1, x2, {.components = 5, .ridge = 0.1});
  EXPECT_EQ(s.rank1, 19);
  EXPECT_LT(largest(s.correlations.head(5) - want.correlations), 1e-12);
  EXPECT_LT(largest(s.weights1.leftCols(5) - want.weights1), 1e-9);
  EXPECT_LT(largest(s.weights1), 10);
  EXPECT_LT(largest(s.weights2), 10);
}

TEST(Cca, AConstantViewHasNoComponents) {
  for (const Index n : {200, 4}) {
    const auto [x1, x2] = correlated(n, 4, 3);
    const CcaSolution s = cca(Matrix<double>::Constant(n, 4, 0.1), x2);
    EXPECT_EQ(s.rank1, 0);
    EXPECT_EQ(s.rank2, 3);
    EXPECT_EQ(s.correlations.size(), 0);
    EXPECT_EQ(s.weights1.rows(), 4);
    EXPECT_EQ(s.weights1.cols(), 0);
  }
  // Large enough for products that have kernels of their own.
  const auto [wide, other] = correlated(700, 300, 100);
  EXPECT_EQ(cca(Matrix<double>::Constant(700, 300, 0.1), other).rank1, 0);
  EXPECT_EQ(cca(other, Matrix<double>::Constant(700, 300, 0.1)).correlations.size(), 0);
}

TEST(Cca, IdenticalViewsCorrelatePerfectly) {
  const auto [x1, x2] = correlated(50, 5, 3);
  const CcaSolution s = cca(x1, x1);
  EXPECT_LT(largest(s.correlations.array() - 1), 1e-12);
  EXPECT_LE(s.correlations.maxCoeff(), 1);
  EXPECT_LT(largest(s.weights1 - s.weights2), 1e-9);
}

TEST(Cca, CorrelationsAreNotSquared) {
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  EXPECT_NEAR(cca_from_covariances(4 * one, 9 * one, 3 * one).correlations(0), 0.5, 1e-15);
  EXPECT_NEAR(cca_from_covariances(4 * one, 9 * one, -3 * one).correlations(0), 0.5, 1e-15);
  EXPECT_NEAR(cca_from_covariances(4 * one, 9 * one, -3 * one).weights2(0), -1.0 / 3, 1e-15);
}

TEST(Cca, EachViewMayHaveItsRidge) {
  for (const Index n : {200, 6}) {  // through the covariances, and thinly
    const auto [x1, x2] = correlated(n, 4, 3);
    const CcaSolution s = cca(x1, x2, {.ridge = 0.5, .ridge2 = 2});
    const Matrix<double> s1 = cross(x1, x1) + 0.5 * Matrix<double>::Identity(4, 4);
    const Matrix<double> s2 = cross(x2, x2) + 2 * Matrix<double>::Identity(3, 3), one = Matrix<double>::Identity(3, 3);
    EXPECT_LT(largest(s.weights1.transpose() * s1 * s.weights1 - one), 1e-9);
    EXPECT_LT(largest(s.weights2.transpose() * s2 * s.weights2 - one), 1e-9);
    EXPECT_EQ(cca(x1, x2, {.ridge = 0.5, .ridge2 = 0.5}).weights2, cca(x1, x2, {.ridge = 0.5}).weights2);
  }
}

TEST(Cca, KeepsTheComponentsAskedFor) {
  const auto [x1, x2] = correlated(100, 6, 4);
  const CcaSolution all = cca(x1, x2), two = cca(x1, x2, {.components = 2}), many = cca(x1, x2, {.components = 99});
  EXPECT_EQ(two.correlations, all.correlations.head(2));
  EXPECT_EQ(two.weights1, all.weights1.leftCols(2));
  EXPECT_EQ(many.weights2, all.weights2);
}

TEST(Cca, ManyMoreColumnsThanSamplesIsQuick) {
  // A covariance of 20000 columns would take 3 GB, its decomposition hours.
  const auto [x1, x2] = correlated(50, 20000, 20000);
  const auto start = std::chrono::steady_clock::now();
  const CcaSolution s = cca(x1, x2, {.components = 10});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(s.rank1, 49);
  EXPECT_EQ(s.weights1.rows(), 20000);
  expect_solution(s, x1, x2);
}

TEST(Cca, RefusesBadViews) {
  Matrix<double> x1, x2;
  std::tie(x1, x2) = correlated(10, 3, 2);
  EXPECT_THAT([&] { cca(x1.topRows(9), x2); },
              ThrowsMessage<InputError>(
                  StrEq("[cca] rows of the two views: got 9 and 10, need equal numbers; pair the samples")));
  EXPECT_THAT([&] { cca(x1.topRows(1), x2.topRows(1)); },
              ThrowsMessage<InputError>(StrEq("[cca] number of samples: got 1, need at least 2; add samples")));
  EXPECT_THAT(
      [&] { cca(x1.leftCols(0), x2); },
      ThrowsMessage<InputError>(StrEq("[cca] columns of the two views: got 0 and 2, need at least 1; pass the data")));
  x2(7, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { cca(x1, x2); },
              ThrowsMessage<InputError>(StrEq("[cca] view 2, row 7, column 1 (counted from 0): got nan, need a finite "
                                              "number; impute it or drop the row")));
}

TEST(Cca, RefusesBadCovariances) {
  const Matrix<double> one = Matrix<double>::Identity(3, 3), s12 = Matrix<double>::Zero(3, 2);
  EXPECT_THAT([&] { cca_from_covariances(one, one, s12); },
              ThrowsMessage<InputError>(StrEq("[cca] shape of S22: got 3 x 3, need 2 x 2; check what was passed")));
  Matrix<double> bad = s12;
  bad(2, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { cca_from_covariances(one, one.topLeftCorner(2, 2), bad); },
              ThrowsMessage<InputError>(StrEq("[cca] S12, row 2, column 0 (counted from 0): got inf, need a finite "
                                              "number; impute it or drop the row")));
}

TEST(Cca, RefusesBadOptions) {
  Matrix<double> x1, x2;
  std::tie(x1, x2) = correlated(10, 3, 2);
  EXPECT_THAT([&] { cca(x1, x2, {.ridge = -1}); },
              ThrowsMessage<InputError>(StrEq("[cca] ridge: got -1, need a finite number >= 0; use 0 for plain CCA")));
  EXPECT_THAT([&] { cca(x1, x2, {.ridge2 = -3}); },
              ThrowsMessage<InputError>(
                  StrEq("[cca] ridge2: got -3, need a finite number >= 0; leave it out for that of view 1")));
  EXPECT_THAT([&] { cca(x1, x2, {.components = -2}); },
              ThrowsMessage<InputError>(StrEq("[cca] components: got -2, need 0 (all) or more; set how many to keep")));
  EXPECT_THAT([&] { cca(x1, x2, {.rank_tolerance = 1}); },
              ThrowsMessage<InputError>(StrEq("[cca] rank_tolerance: got 1, need 0 <= rank_tolerance < 1; use 1e-10")));
}

}  // namespace
}  // namespace tocca
