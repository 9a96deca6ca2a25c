#include "tocca/data/column_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tocca/core/rng.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Index> all_rows(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

Matrix<double> random_values(Index rows, Index columns) {
  Rng rng(3);
  Matrix<double> values(rows, columns);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = rng.normal();
  return values;
}

TEST(ColumnMoments, MatchTheDefinitionOverSeveralChunks) {
  const Matrix<double> values = random_values(3000, 3);
  const ColumnMoments moments = column_moments(Table(values), all_rows(3000), {});
  const RowVector<double> mean = values.colwise().mean();
  const RowVector<double> squares = (values.rowwise() - mean).colwise().squaredNorm();
  EXPECT_TRUE((moments.count.array() == 3000).all());
  EXPECT_TRUE(moments.mean.isApprox(mean, 1e-12));
  EXPECT_TRUE(moments.squares.isApprox(squares, 1e-12));
}

TEST(ColumnMoments, SurviveALargeMean) {
  // The values are exact in float64, so that the shift changes nothing but the mean.
  Matrix<double> values(5000, 1);
  for (Index i = 0; i < 5000; ++i) values(i, 0) = 1e9 + static_cast<double>(i % 5);
  const ColumnMoments moments = column_moments(Table(values), all_rows(5000), {});
  EXPECT_DOUBLE_EQ(moments.mean(0), 1e9 + 2);
  EXPECT_NEAR(moments.squares(0), 10000, 1e-6);
}

TEST(ColumnMoments, DoNotDependOnThreadsOrStorageOrder) {
  const Matrix<double> values = random_values(70 * 1024 + 5, 4);
  const Eigen::MatrixXd by_column = values;
  const Table columns(nullptr, by_column.data(), NumberType::f8, values.rows(), 4, 1, values.rows());
  const ColumnMoments one = column_moments(Table(values), all_rows(values.rows()), {});
  const ColumnMoments four = column_moments(Table(values), all_rows(values.rows()), make_context(4));
  const ColumnMoments other = column_moments(columns, all_rows(values.rows()), make_context(2));
  for (const ColumnMoments* moments : {&four, &other}) {
    EXPECT_EQ(one.count, moments->count);
    EXPECT_EQ(one.mean, moments->mean);
    EXPECT_EQ(one.squares, moments->squares);
  }
}

TEST(ColumnMoments, LeaveOutMissingValues) {
  Matrix<double> values(4, 3);
  values << 1, kNaN, 1,  //
      2, kNaN, kNaN,     //
      6, kNaN, kNaN,     //
      3, kNaN, kNaN;
  const ColumnMoments moments = column_moments(Table(values), std::vector<Index>{0, 1, 2}, {});
  EXPECT_EQ(moments.count, (RowVector<double>(3) << 3, 0, 1).finished());
  EXPECT_EQ(moments.mean, (RowVector<double>(3) << 3, 0, 1).finished());
  EXPECT_EQ(moments.squares, (RowVector<double>(3) << 14, 0, 0).finished());
}

TEST(ColumnMoments, LeaveOutAWholeMissingChunk) {
  Matrix<double> values = Matrix<double>::Constant(2048, 1, kNaN);
  values(2000, 0) = 4;
  values(2001, 0) = 6;
  const ColumnMoments moments = column_moments(Table(values), all_rows(2048), {});
  EXPECT_EQ(moments.count(0), 2);
  EXPECT_EQ(moments.mean(0), 5);
  EXPECT_EQ(moments.squares(0), 2);
}

TEST(ColumnMoments, AreNotFiniteWhereAValueIsInfinite) {
  Matrix<double> values = Matrix<double>::Zero(2000, 2);
  values(7, 1) = std::numeric_limits<double>::infinity();
  const ColumnMoments moments = column_moments(Table(values), all_rows(2000), {});
  EXPECT_EQ(moments.squares(0), 0);
  EXPECT_FALSE(std::isfinite(moments.squares(1)));
}

TEST(ColumnMoments, ReadIntegers) {
  const std::vector<std::uint8_t> bytes = {0, 255, 10, 255};
  const Table table(nullptr, bytes.data(), NumberType::u1, 2, 2, 2, 1);
  const ColumnMoments moments = column_moments(table, all_rows(2), {});
  EXPECT_EQ(moments.mean, (RowVector<double>(2) << 5, 255).finished());
  EXPECT_EQ(moments.squares, (RowVector<double>(2) << 50, 0).finished());
}

}  // namespace
}  // namespace tocca
