#include "tocca/linalg/correlation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

Matrix<double> random(Index rows, Index cols, const char* name) {
  Rng rng = Rng(8).split(name);
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return rng.normal(); });
}

TEST(ColumnCorrelations, OfKnownColumns) {
  const Matrix<double> a = (Matrix<double>(4, 4) << 1, 1, 1, 0.1, 2, 2, 2, 0.1, 3, 3, 3, 0.1, 4, 4, 4, 0.1).finished();
  const Matrix<double> b = (Matrix<double>(4, 4) << 3, -1, 1, 1, 5, -2, 3, 2, 7, -3, 2, 3, 9, -4, 4, 4).finished();
  const Vector<double> got = column_correlations(a, b);
  EXPECT_DOUBLE_EQ(got(0), 1);
  EXPECT_DOUBLE_EQ(got(1), -1);
  EXPECT_DOUBLE_EQ(got(2), 0.8);  // ranks with d² = 2: 1 − 6 · 2 / (4 · 15)
  EXPECT_EQ(got(3), 0);
}

TEST(ColumnCorrelations, ColumnsThatAreConstantUpToRoundingDoNotCorrelate) {
  const double above = std::nextafter(0.1, 1.0);
  const Matrix<double> a = (Matrix<double>(3, 1) << 0.1, above, 0.1).finished();
  EXPECT_EQ(column_correlations(a, a)(0), 0);
}

TEST(ColumnCorrelations, RefuseBadInput) {
  const Matrix<double> a = Matrix<double>::Ones(3, 2);
  EXPECT_THAT([&] { column_correlations(a, a.leftCols(1)); },
              ThrowsMessage<InputError>(
                  StrEq("[column_correlations] shape of b: got 3 x 1, need 3 x 2; check what was passed")));
  EXPECT_THAT(
      [&] { column_correlations(a.topRows(1), a.topRows(1)); },
      ThrowsMessage<InputError>(StrEq("[column_correlations] rows: got 1, need at least 2; pass more samples")));
}

TEST(HeldOutCorrelation, OfIndependentViewsIsNearZeroThoughTrainingSeesMuch) {
  const Matrix<double> x1 = random(2060, 20, "x1"), x2 = random(2060, 20, "x2");
  EXPECT_GT(cca(x1.topRows(60), x2.topRows(60)).correlations.sum(), 7);
  const Vector<double> got =
      held_out_correlations(x1.topRows(60), x2.topRows(60), x1.bottomRows(2000), x2.bottomRows(2000));
  ASSERT_EQ(got.size(), 20);
  EXPECT_LT(got.cwiseAbs().maxCoeff(), 0.1);
  EXPECT_LT(std::abs(got.sum()), 0.5);
}

TEST(HeldOutCorrelation, OfSharedViewsIsTheNumberOfComponents) {
  const Matrix<double> z = random(300, 4, "z");
  const Matrix<double> x1 = z * random(4, 6, "a"), x2 = (z * random(4, 5, "b")).array() + 3;
  const double got = held_out_sum_correlation(x1.topRows(200), x2.topRows(200), x1.bottomRows(100), x2.bottomRows(100));
  EXPECT_NEAR(got, 4, 1e-9);
  EXPECT_NEAR(held_out_sum_correlation(x1.topRows(200), x2.topRows(200), x1.bottomRows(100), x2.bottomRows(100),
                                       {.components = 2}),
              2, 1e-9);
}

TEST(HeldOutCorrelation, ComesInTheOrderOfTheComponentsWithItsSign) {
  // In training column 0 agrees more than column 1; in testing column 0 is reversed.
  const Matrix<double> z = random(5000, 2, "z");
  const Matrix<double> other =
      z + random(5000, 2, "e") * Vector<double>((Vector<double>(2) << 0.1, 1).finished()).asDiagonal();
  const Matrix<double> flipped = z * Vector<double>((Vector<double>(2) << -1, 1).finished()).asDiagonal();
  const Vector<double> got = held_out_correlations(z, other, z, flipped);
  EXPECT_NEAR(got(0), -1, 0.01);
  EXPECT_NEAR(got(1), 1, 0.01);
}

TEST(HeldOutCorrelation, RefusesBadInput) {
  const Matrix<double> x = random(10, 3, "x");
  EXPECT_THAT([&] { held_out_correlations(x, x, x, x.leftCols(2)); },
              ::testing::ThrowsMessage<InputError>(::testing::StrEq(
                  "[held_out_correlations] shape of test view 2: got 10 x 2, need 10 x 3; check what was passed")));
  EXPECT_THROW(held_out_correlations(x, x, x, x.topRows(5)), InputError);
  EXPECT_THROW(held_out_correlations(x, x.topRows(5), x, x), InputError);
  EXPECT_THROW(held_out_correlations(x, x, x.topRows(1), x.topRows(1)), InputError);
}

}  // namespace
}  // namespace tocca
