#include "tocca/linalg/principal.h"

#include <gtest/gtest.h>

#include <utility>

#include "tocca/core/rng.h"
#include "tocca/testing/matchers.h"

namespace tocca::detail {
namespace {

using tocca::testing::max_error;

class PrincipalShapes : public ::testing::TestWithParam<std::pair<Index, Index>> {};
INSTANTIATE_TEST_SUITE_P(AroundTheBoundary, PrincipalShapes,
                         ::testing::Values(std::pair{30, 4}, std::pair{6, 5}, std::pair{5, 5}, std::pair{4, 9},
                                           std::pair{1, 3}, std::pair{3, 1}));

TEST_P(PrincipalShapes, AxesRebuildTheCovariance) {
  const auto [n, d] = GetParam();
  Rng rng(3);
  const Matrix<double> x = tocca::testing::random_matrix(rng, n, d);
  const PrincipalAxes p = principal_axes(x, 7);
  const Index r = std::min(n, d);
  ASSERT_EQ(p.variances.size(), r);
  EXPECT_LT(max_error(p.axes * p.axes.transpose(), Matrix<double>::Identity(r, r)), 1e-12);
  EXPECT_LT(max_error(p.axes.transpose() * p.variances.asDiagonal() * p.axes, x.transpose() * x / 7), 1e-12);
  for (Index i = 1; i < r; ++i) EXPECT_GE(p.variances(i - 1), p.variances(i));
}

TEST(Principal, CountsWhatIsAboveTheTolerance) {
  const Vector<double> variances = (Vector<double>(4) << 2, 0.5, 1e-11, 0).finished();
  EXPECT_EQ(count_above(variances, 1e-10), 2);
  EXPECT_EQ(count_above(variances, 0), 3);
  EXPECT_EQ(count_above(Vector<double>::Zero(3), 0), 0);
  EXPECT_EQ(count_above(Vector<double>(), 0.1), 0);
}

}  // namespace
}  // namespace tocca::detail
