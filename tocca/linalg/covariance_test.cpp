#include "tocca/linalg/covariance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"

namespace tocca {
namespace {

Matrix<double> random(Index rows, Index cols) {
  Rng rng = Rng(2).split("rows");
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return 3 + rng.normal(); });
}

Matrix<double> by_definition(const Matrix<double>& x) {
  const Matrix<double> centred = x.rowwise() - x.colwise().mean();
  return centred.transpose() * centred / static_cast<double>(x.rows() - 1);
}

double largest(const Matrix<double>& m) { return m.cwiseAbs().maxCoeff(); }

TEST(Covariance, KnownValues) {
  CovarianceAccumulator gathered(2);
  gathered.add((Matrix<double>(3, 2) << 1, 2, 3, 2, 5, 8).finished());
  EXPECT_EQ(gathered.count(), 3);
  EXPECT_EQ(gathered.mean(), (RowVector<double>(2) << 3, 4).finished());
  EXPECT_LT(largest(gathered.covariance() - (Matrix<double>(2, 2) << 4, 6, 6, 12).finished()), 1e-14);
}

TEST(Covariance, PiecesOfAnySizeGiveTheWhole) {
  const Matrix<double> x = random(3000, 5);
  CovarianceAccumulator gathered(5);
  Index top = 0;
  for (const Index rows : {1, 0, 2, 1500, 1497}) {
    gathered.add(x.middleRows(top, rows));
    top += rows;
  }
  ASSERT_EQ(gathered.count(), 3000);
  EXPECT_LT(largest(gathered.covariance() - by_definition(x)), 1e-14);
  EXPECT_LT(largest(gathered.mean() - x.colwise().mean()), 1e-14);
}

TEST(Covariance, MergesLikeOneStream) {
  const Matrix<double> x = random(100, 4);
  CovarianceAccumulator left(4), right(4), empty(4);
  left.add(x.topRows(30));
  right.add(x.bottomRows(70));
  left.merge(empty);
  left.merge(right);
  empty.merge(left);
  EXPECT_EQ(empty.count(), 100);
  EXPECT_LT(largest(empty.covariance() - by_definition(x)), 1e-14);
  left.merge(left);
  EXPECT_EQ(left.count(), 200);
  EXPECT_LT(largest(left.covariance() - by_definition(x) * (198.0 / 199)), 1e-14);
}

TEST(Covariance, LargeOffsetsCostFewDigits) {
  const Matrix<double> x = random(500, 3);
  const Matrix<double> shifted = ((x.array() * 1024).round() / 1024 + 1e9).matrix();
  CovarianceAccumulator gathered(3);
  for (Index i = 0; i < 500; i += 50) gathered.add(shifted.middleRows(i, 50));
  EXPECT_LT(largest(gathered.covariance() - by_definition((shifted.array() - 1e9).matrix())), 1e-6);
}

TEST(Covariance, OfConstantColumnsIsExactlyZero) {
  Matrix<double> x = random(2500, 3);
  x.col(1).setConstant(0.1);
  CovarianceAccumulator gathered(3), other(3);
  gathered.add(x.topRows(2000));
  other.add(x.bottomRows(500));
  gathered.merge(other);
  EXPECT_EQ(gathered.covariance().col(1), Vector<double>::Zero(3));
  EXPECT_EQ(gathered.mean()(1), 0.1);
}

TEST(Covariance, RefusesBadInput) {
  using ::testing::StrEq;
  using ::testing::ThrowsMessage;
  CovarianceAccumulator gathered(3);
  gathered.add(random(1, 3));
  EXPECT_THAT([&] { return gathered.covariance(); },
              ThrowsMessage<InputError>(StrEq("[covariance] number of rows: got 1, need at least 2; add more rows")));
  EXPECT_THAT(
      [&] { gathered.add(random(2, 4)); },
      ThrowsMessage<InputError>(StrEq("[covariance] columns of the rows: got 4, need 3; put all views side by side")));
  EXPECT_THAT([&] { gathered.merge(CovarianceAccumulator(2)); },
              ThrowsMessage<InputError>(StrEq(
                  "[covariance] columns of the other accumulator: got 2, need 3; gather the same views in both")));
  EXPECT_THROW(CovarianceAccumulator(-1), InputError);
}

}  // namespace
}  // namespace tocca
