#include "tocca/linalg/covariance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(Covariance, OrderAndSizeOfThePiecesCostNoDigits) {
  // Measured from the first row alone, 200 deviations away from all others, digits would go.
  constexpr Index kRows = 40'000;
  Matrix<double> x = random(kRows, 2);
  x(0, 0) = 200;
  x.col(1).head(100).setConstant(-50);
  Matrix<double> centred = x;
  for (int pass = 0; pass < 2; ++pass) centred.rowwise() -= centred.colwise().mean().eval();
  const Matrix<double> want = centred.transpose() * centred / (kRows - 1);
  for (const Index rows : {Index{1}, Index{7}, Index{1000}}) {
    CovarianceAccumulator gathered(2);
    for (Index top = 0; top < kRows; top += rows) gathered.add(x.middleRows(top, std::min(rows, kRows - top)));
    EXPECT_LT(largest((gathered.covariance() - want).cwiseQuotient(want)), 1e-13) << rows;
  }
}

TEST(Covariance, InPlaceIsTheSameToTheLastBit) {
  const Matrix<double> x = random(1000, 4);
  Matrix<double> wide(1000, 9);
  wide.middleCols(2, 4) = x;
  CovarianceAccumulator copied(4), in_place(4);
  copied.add(x);
  in_place.add_in_place(wide.middleCols(2, 4));
  EXPECT_EQ(copied.covariance(), in_place.covariance());
  EXPECT_EQ(copied.mean(), in_place.mean());
}

// Blocks grow with the columns: at 600 there are 150 rows in one, and pieces and blocks do not end together.
TEST(Covariance, OfWideRowsInBlocksOfAnotherSize) {
  const Matrix<double> x = random(400, 600);
  CovarianceAccumulator gathered(600), in_place(600);
  ASSERT_EQ(gathered.block_rows(), 150);
  gathered.add(x.topRows(199));
  gathered.add(x.bottomRows(201));
  EXPECT_LT(largest(gathered.covariance() - by_definition(x)), 1e-13);
  Matrix<double> first = x.topRows(199), second = x.bottomRows(201);
  in_place.add_in_place(first);
  in_place.add_in_place(second);
  EXPECT_EQ(in_place.covariance(), gathered.covariance());
  EXPECT_EQ(CovarianceAccumulator(5).block_rows(), 128);
  EXPECT_EQ(CovarianceAccumulator(5000).block_rows(), 512);
}

TEST(Covariance, WhatIsNotFiniteSpreads) {
  Matrix<double> x = random(600, 2);
  x(500, 1) = std::numeric_limits<double>::infinity();
  CovarianceAccumulator gathered(2);
  gathered.add(x);
  EXPECT_FALSE(std::isfinite(gathered.mean()(1)));
  EXPECT_FALSE(std::isfinite(gathered.covariance()(1, 1)));
  EXPECT_TRUE(std::isfinite(gathered.covariance()(0, 0)));
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
