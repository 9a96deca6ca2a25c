#include "tocca/linalg/kmeans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

/// `clusters` groups of n rows each in d dimensions, row i in group i % clusters, far from each other.
Matrix<double> groups(Rng rng, Index n, Index d, Index clusters) {
  const Matrix<double> centres = 20 * random_matrix(rng, clusters, d);
  Matrix<double> x = random_matrix(rng, n * clusters, d);
  for (Index i = 0; i < x.rows(); ++i) x.row(i) += centres.row(i % clusters);
  return x;
}

/// Centres are means of their rows, no cluster is empty, the inertia is theirs, and rows are with the closest centre.
void expect_fixed_point(ConstMatrixRef<double> x, const KMeansResult& result) {
  const Index clusters = result.centres.rows();
  Matrix<double> sums = Matrix<double>::Zero(clusters, x.cols());
  Vector<double> sizes = Vector<double>::Zero(clusters);
  double inertia = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const Index own = result.labels.at(static_cast<std::size_t>(i));
    sums.row(own) += x.row(i);
    ++sizes(own);
    const Vector<double> distances = (result.centres.rowwise() - x.row(i)).rowwise().squaredNorm();
    EXPECT_LE(distances(own), distances.minCoeff() + 1e-10);
    inertia += distances(own);
  }
  EXPECT_GT(sizes.minCoeff(), 0);
  EXPECT_LT(max_error(result.centres, sizes.cwiseInverse().asDiagonal() * sums), 1e-12);
  EXPECT_NEAR(result.inertia, inertia, 1e-9 * (1 + inertia));
}

TEST(KMeans, GoldenValuesFromGivenCentres) {
  const testing::Golden golden("kmeans", "metrics_reference.json");
  const Matrix<double> x = golden.matrix("x");
  const KMeansResult result = kmeans(x, 4, {.start = x.topRows(4)}, Rng(0));
  EXPECT_EQ(result.labels, golden.integers("labels"));
  EXPECT_LT(max_error(result.centres, golden.matrix("centres")), 1e-12);
  EXPECT_NEAR(result.inertia, golden.number("inertia"), 1e-10);
  EXPECT_TRUE(result.converged);
  EXPECT_GT(result.iterations, 2);
}

TEST(KMeans, ByHand) {
  Matrix<double> x(5, 1), start(2, 1);
  x << 0, 1, 2, 10, 12;
  start << 0, 1;
  // {0}, {1, 2, 10, 12}: 0 and 6.25; {0, 1, 2}, {10, 12}: 1 and 11; nothing moves any more.
  const KMeansResult result = kmeans(x, 2, {.start = start}, Rng(0));
  EXPECT_EQ(result.labels, std::vector<int>({0, 0, 0, 1, 1}));
  EXPECT_EQ(result.centres, Vector<double>({{1, 11}}));
  EXPECT_DOUBLE_EQ(result.inertia, 4);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_TRUE(result.converged);
  const KMeansResult first = kmeans(x, 2, {.max_iterations = 1, .start = start}, Rng(0));
  EXPECT_EQ(first.labels, std::vector<int>({0, 1, 1, 1, 1}));
  EXPECT_EQ(first.centres, Vector<double>({{0, 6.25}}));
  EXPECT_FALSE(first.converged);
}

TEST(KMeans, FindsGroupsThatLieApart) {
  const Matrix<double> x = groups(Rng(3), 100, 4, 6);  // several blocks of rows
  const KMeansResult result = kmeans(x, 6, {}, Rng(1));
  EXPECT_TRUE(result.converged);
  expect_fixed_point(x, result);
  for (std::size_t i = 6; i < result.labels.size(); ++i) EXPECT_EQ(result.labels[i], result.labels[i % 6]);
  EXPECT_EQ((std::set<int>(result.labels.begin(), result.labels.begin() + 6).size()), 6U);
}

TEST(KMeans, ReachesAFixedPointWithoutGroups) {
  Rng rng(5);
  const Matrix<double> x = random_matrix(rng, 300, 3);
  for (const Index clusters : {1, 2, 17, 300}) {
    const KMeansResult result = kmeans(x, clusters, {.restarts = 2}, Rng(clusters));
    EXPECT_TRUE(result.converged);
    expect_fixed_point(x, result);
    EXPECT_EQ(result.inertia == 0, clusters == 300);
  }
}

TEST(KMeans, SpreadSeedsBeatUniformOnes) {
  // One group of 1000 rows and ten rows each far off: uniform seeds would miss the ten, and one start would not mend
  // it.
  Rng rng(6);
  Matrix<double> x(1010, 2);
  x << random_matrix(rng, 1000, 2), 1e3 * random_matrix(rng, 10, 2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const KMeansResult result = kmeans(x, 11, {.restarts = 1, .max_iterations = 1}, Rng(seed));
    const std::set<int> outer(result.labels.begin() + 1000, result.labels.end());
    EXPECT_GE(outer.size(), 9U) << seed;
  }
}

TEST(KMeans, RestartsKeepTheBest) {
  Rng rng(8);
  const Matrix<double> x = random_matrix(rng, 120, 2);
  std::vector<double> inertias;
  for (const Index restarts : {1, 2, 4, 8, 16})
    inertias.push_back(kmeans(x, 9, {.restarts = restarts}, Rng(2)).inertia);
  EXPECT_TRUE(std::is_sorted(inertias.rbegin(), inertias.rend()));
  EXPECT_LT(inertias.back(), inertias.front());
}

TEST(KMeans, TheSameRngGivesTheSameResult) {
  Rng rng(9);
  const Matrix<double> x = random_matrix(rng, 80, 3);
  const KMeansResult once = kmeans(x, 7, {.restarts = 1}, Rng(4)), twice = kmeans(x, 7, {.restarts = 1}, Rng(4));
  EXPECT_EQ(once.labels, twice.labels);
  EXPECT_EQ(once.centres, twice.centres);
  EXPECT_NE(kmeans(x, 7, {.restarts = 1}, Rng(5)).labels, once.labels);
}

TEST(KMeans, FarFromTheOriginNothingChanges) {
  const Matrix<double> x = groups(Rng(7), 30, 3, 4);
  const Matrix<double> moved = x.rowwise() + RowVector<double>::Constant(3, 1e9);
  const KMeansResult near = kmeans(x, 4, {}, Rng(3)), far = kmeans(moved, 4, {}, Rng(3));
  EXPECT_EQ(far.labels, near.labels);
  EXPECT_NEAR(far.inertia, near.inertia, 1e-5 * near.inertia);
}

TEST(KMeans, AnEmptiedClusterGetsTheFarthestRow) {
  Matrix<double> x(4, 1), start(3, 1);
  x << 0, 1, 2, 50;
  start << 0, 1.4, 1000;
  // No row is closest to 1000; 50 is farthest from its centre.
  const KMeansResult result = kmeans(x, 3, {.start = start}, Rng(0));
  EXPECT_EQ(result.labels, std::vector<int>({0, 1, 1, 2}));
  expect_fixed_point(x, result);
  // Two empty clusters: the farthest row and the next, but never the last row of a cluster.
  start << 30, 1e3, 2e3;
  const KMeansResult both = kmeans(x, 3, {.max_iterations = 1, .start = start}, Rng(0));
  EXPECT_EQ(both.labels, std::vector<int>({1, 2, 0, 0}));
}

TEST(KMeans, EqualRowsStillFillEveryCluster) {
  Matrix<double> x = Matrix<double>::Ones(6, 2);
  x.row(5).setConstant(3);
  const KMeansResult result = kmeans(x, 4, {}, Rng(0));
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.inertia, 0);
  expect_fixed_point(x, result);
  const KMeansResult without_columns = kmeans(Matrix<double>(3, 0), 2, {}, Rng(0));
  EXPECT_EQ(without_columns.inertia, 0);
}

TEST(KMeans, RefusesBadInput) {
  const Matrix<double> x = Matrix<double>::Zero(3, 2);
  const auto message = [](const char* text) { return ThrowsMessage<InputError>(StrEq(text)); };
  EXPECT_THAT(
      [&] { kmeans(x, 4, {}, Rng(0)); },
      message("[kmeans] clusters: got 4 for 3 rows, need 1 to as many as there are rows; ask for fewer, or pass "
              "more rows"));
  EXPECT_THROW(kmeans(x, 0, {}, Rng(0)), InputError);
  EXPECT_THAT([&] { kmeans(x, 2, {.restarts = 0}, Rng(0)); },
              message("[kmeans] restarts: got 0, need at least 1; the default is 10"));
  EXPECT_THAT([&] { kmeans(x, 2, {.max_iterations = 0}, Rng(0)); },
              message("[kmeans] max_iterations: got 0, need at least 1; the default is 300"));
  EXPECT_THAT([&] { kmeans(x, 2, {.start = x}, Rng(0)); },
              message("[kmeans] shape of the start: got 3 x 2, need 2 x 2; check what was passed"));
  Matrix<double> bad = x;
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { kmeans(bad, 2, {}, Rng(0)); },
              message("[kmeans] x, row 1, column 0 (counted from 0): got nan, need a finite number; impute it or drop "
                      "the row"));
  EXPECT_THROW(kmeans(x, 3, {.start = bad}, Rng(0)), InputError);
}

}  // namespace
}  // namespace tocca
