#include "tocca/linalg/svd.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <limits>
#include <tuple>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"

namespace tocca {
namespace {

Matrix<double> random(Index rows, Index cols, const char* name) {
  Rng rng = Rng(9).split(name);
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return rng.normal(); });
}

Matrix<double> orthonormal(Index rows, Index cols, const char* name) {
  const Matrix<double> q = random(rows, rows, name).householderQr().householderQ();
  return q.leftCols(cols);
}

double largest(const Matrix<double>& m) { return m.size() == 0 ? 0 : m.cwiseAbs().maxCoeff(); }

class ThinSvdTest : public ::testing::TestWithParam<std::tuple<Index, Index>> {};
INSTANTIATE_TEST_SUITE_P(Shapes, ThinSvdTest,
                         ::testing::Values(std::tuple{5, 5}, std::tuple{7, 3}, std::tuple{3, 7}, std::tuple{1, 4},
                                           std::tuple{4, 1}, std::tuple{1, 1}, std::tuple{120, 6}, std::tuple{6, 120}));

TEST_P(ThinSvdTest, RecoversChosenValuesRepeatedAndZeroOnesIncluded) {
  const auto [n, d] = GetParam();
  const Index r = std::min(n, d);
  Vector<double> values(r);
  for (Index i = 0; i < r; ++i) values(i) = i == 0 ? 4 : i <= 2 ? 1.5 : 0;
  const Matrix<double> x = orthonormal(n, r, "left") * values.asDiagonal() * orthonormal(d, r, "right").transpose();
  const ThinSvd svd = thin_svd(x);
  EXPECT_LT(largest(svd.values - values), 1e-14);
  EXPECT_LT(largest(svd.left * svd.values.asDiagonal() * svd.right_t - x), 1e-14);
  EXPECT_LT(largest(svd.left.transpose() * svd.left - Matrix<double>::Identity(r, r)), 1e-14);
  EXPECT_LT(largest(svd.right_t * svd.right_t.transpose() - Matrix<double>::Identity(r, r)), 1e-14);
}

TEST(ThinSvd, OfNothingIsNothing) {
  const ThinSvd svd = thin_svd(Matrix<double>(3, 0));
  EXPECT_EQ(svd.values.size(), 0);
  EXPECT_EQ(svd.left.rows(), 3);
  EXPECT_EQ(svd.left.cols(), 0);
}

TEST(ThinSvd, RefusesWhatIsNotFinite) {
  Matrix<double> x = Matrix<double>::Ones(3, 2);
  x(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(thin_svd(x), Error);
}

}  // namespace
}  // namespace tocca
