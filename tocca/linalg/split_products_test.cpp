// Products by the matrix unit, or by its emulation where the processor has none.
#include "tocca/linalg/split_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rows.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/linalg/test_products.h"

namespace tocca {
namespace {

using detail::MatrixUnit;
using detail::UseMatrixUnit;
using tocca::testing::largest_deviation;
using tocca::testing::random;
using tocca::testing::rounding_of_sums;

std::vector<MatrixUnit> units_here() {
  std::vector<MatrixUnit> units = {MatrixUnit::kEmulated};
  if (detail::has_matrix_unit()) units.push_back(MatrixUnit::kProcessor);
  return units;
}

class SplitProducts : public ::testing::TestWithParam<MatrixUnit> {
 private:
  UseMatrixUnit unit_{GetParam()};
};
std::string name_of(const ::testing::TestParamInfo<MatrixUnit>& info) {
  return info.param == MatrixUnit::kEmulated ? "Emulated" : "Processor";
}
INSTANTIATE_TEST_SUITE_P(OfThisMachine, SplitProducts, ::testing::ValuesIn(units_here()), name_of);

detail::Product<float> product(ConstMatrixRef<float> a, ConstMatrixRef<float> b, MatrixRef<float> c, bool add = false) {
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  return {
      size(a.rows()), size(a.cols()), size(c.cols()), rows_of<float>(a), rows_of<float>(b), rows_of<float>(c), 1, add,
      std::size_t{0}, size(c.cols())};
}

// Tiles filled or not, both ways; few rows in one or several blocks, and many; several groups of steps.
TEST_P(SplitProducts, EqualTheirDefinitionsForEveryRemainder) {
  for (const Index m : {1, 15, 16, 17, 32, 33, 100, 128, 129, 300}) {
    for (const Index n : {1, 16, 20, 32, 50, 65}) {
      for (const Index k : {1, 16, 31, 32, 33, 128, 200}) {
        const Matrix<float> a = random<float>(m, k, "a"), b = random<float>(k, n, "b");
        const Matrix<double> ab = a.cast<double>() * b.cast<double>();
        for (const bool add : {false, true}) {
          Matrix<float> around = random<float>(m + 2, n + 3, "c");
          if (!add) around.block(1, 1, m, n).setConstant(std::numeric_limits<float>::quiet_NaN());
          Matrix<float> c = around;
          const Matrix<double> want = add ? Matrix<double>(ab + around.block(1, 1, m, n).cast<double>()) : ab;
          detail::split_a_b(product(a, b, c.block(1, 1, m, n), add));
          ASSERT_LT(largest_deviation<float>(c.block(1, 1, m, n), want), rounding_of_sums<float>(k))
              << m << " " << n << " " << k;
          c.block(1, 1, m, n) = around.block(1, 1, m, n) = Matrix<float>::Zero(m, n);
          ASSERT_TRUE(c == around) << m << " " << n << " " << k;
        }
      }
    }
  }
}

// Not on what is computed with it, nor on how many rows there are: fewer go other ways.
TEST_P(SplitProducts, ANumberDependsOnItsRowAndColumnAlone) {
  const Index m = 300, k = 310, n = 130;
  const Matrix<float> a = random<float>(m, k, "a"), b = random<float>(k, n, "b");
  Matrix<float> whole(m, n);
  detail::split_a_b(product(a, b, whole));
  for (const auto& [row, rows, column, columns] : {std::tuple<Index, Index, Index, Index>{0, 1, 0, n},
                                                   {33, 30, 7, 50},
                                                   {5, 32, 0, n},
                                                   {40, 128, 96, 34},
                                                   {170, 130, 1, 1}}) {
    Matrix<float> c(rows, columns);
    detail::split_a_b(product(a.middleRows(row, rows), b.middleCols(column, columns), c));
    EXPECT_TRUE(c == whole.block(row, column, rows, columns)) << row << " " << column;
  }
}

// As it is in products, in parts: of both factors, from 2⁻⁹⁵ to 2¹⁰³.
TEST_P(SplitProducts, EveryNumberIsItsParts) {
  const Index n = 64;
  Matrix<float> a = random<float>(200, n, "a");
  for (Index i = 0; i < a.rows(); ++i) a.row(i) *= std::ldexp(1.0F, static_cast<int>(i % 100) * 2 - 95);
  const Matrix<float> one = Matrix<float>::Identity(n, n);
  Matrix<float> c(a.rows(), n), ct(n, a.rows());
  detail::split_a_b(product(a, one, c));
  EXPECT_TRUE(c == a);
  const Matrix<float> at = a.transpose();
  detail::split_a_b(product(one, at, ct));
  EXPECT_TRUE(ct == at);
}

// More exact than the kernels of vectors, which sum 128 to 512 terms at a time, however long the sums are.
TEST_P(SplitProducts, RoundLessThanVectors) {
  for (const Index m : {40, 200}) {
    for (const Index k : {300, 1000, 1025, 2000, 20000}) {
      const Matrix<float> a = random<float>(m, k, "a"), b = random<float>(k, 40, "b");
      const Matrix<double> want = a.cast<double>() * b.cast<double>();
      Matrix<float> c(m, 40), by_vectors(m, 40);
      detail::split_a_b(product(a, b, c));
      const UseMatrixUnit use(MatrixUnit::kNone);
      multiply<float>(a, b, by_vectors);
      EXPECT_LT((c.cast<double>() - want).norm(), (by_vectors.cast<double>() - want).norm()) << m << " " << k;
    }
  }
}

// Instruction by instruction, from its definition.
float sum_by_definition(const Vector<float>& x, const Vector<float>& y) {
  const auto split = [](float number) {
    std::array<float, 3> parts{};
    for (float& part : parts) {
      std::uint32_t bits = std::bit_cast<std::uint32_t>(number);
      part = std::bit_cast<float>((bits + 0x8000U) & 0xFFFF0000U);
      number -= part;
    }
    return parts;
  };
  constexpr std::array<std::array<std::size_t, 2>, 6> kProducts = {{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
  float sum = 0;
  for (Index first = 0; first < x.size(); first += 32) {
    for (const auto& [of_x, of_y] : kProducts) {
      float even = 0, odd = 0;
      for (Index i = first; i < std::min(first + 32, x.size()); ++i) {
        float& half = i - first < 16 ? even : odd;
        half = std::fma(split(x(i))[of_x], split(y(i))[of_y], half);
      }
      sum += even + odd;
    }
  }
  return sum;
}

TEST_P(SplitProducts, HaveTheBitsOfTheirDefinition) {
  const Matrix<float> a = random<float>(150, 100, "a"), b = random<float>(100, 40, "b");
  for (const Index m : {20, 50, 150}) {
    Matrix<float> c(m, 40);
    detail::split_a_b(product(a.topRows(m), b, c));
    for (const Index i : {Index{0}, Index{17}, m - 1}) {
      for (const Index j : {0, 16, 39}) EXPECT_EQ(c(i, j), sum_by_definition(a.row(i), b.col(j))) << m << " " << i;
    }
  }
}

TEST_P(SplitProducts, WhatIsNoNumberStaysSo) {
  const Matrix<float> ones = Matrix<float>::Ones(40, 40);
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()}) {
    Matrix<float> a = ones, c(40, 40);
    a(3, 5) = odd;
    detail::split_a_b(product(a, ones, c));
    EXPECT_TRUE(c.row(3).array().isNaN().all()) << odd;
    EXPECT_TRUE((c.topRows(3).array() == 40).all() && (c.bottomRows(36).array() == 40).all()) << odd;
    detail::split_a_b(product(ones, a, c));
    EXPECT_TRUE(c.col(5).array().isNaN().all()) << odd;
    EXPECT_TRUE((c.leftCols(5).array() == 40).all() && (c.rightCols(34).array() == 40).all()) << odd;
  }
}

// Whatever the thread does with small numbers, they count as zero.
TEST_P(SplitProducts, CountSmallNumbersAsZero) {
  for (const float scale : {1e-18F, 1e-20F, 1e-34F, 1e-40F}) {
    const Matrix<float> a = scale * random<float>(30, 128, "a"), b = 1e-19F * random<float>(128, 40, "b");
    Matrix<float> c(30, 40), emulated(30, 40);
    detail::split_a_b(product(a, b, c));
    EXPECT_TRUE((c.array() == 0 || c.array().abs() >= std::numeric_limits<float>::min()).all()) << scale;
    const UseMatrixUnit use(MatrixUnit::kEmulated);
    detail::split_a_b(product(a, b, emulated));
    EXPECT_TRUE(c == emulated) << scale;
  }
}

TEST(MatrixUnit, MultipliesWhereItIsUsed) {
  const Matrix<float> a = random<float>(200, 300, "a"), b = random<float>(300, 90, "b");
  const auto made = [&](MatrixUnit unit) {
    const UseMatrixUnit use(unit);
    Matrix<float> c(200, 90);
    multiply<float>(a, b, c);
    return c;
  };
  const Matrix<float> by_vectors = made(MatrixUnit::kNone), by_unit = made(MatrixUnit::kEmulated);
  EXPECT_FALSE(by_vectors == by_unit);
  EXPECT_LT((by_vectors - by_unit).cwiseAbs().maxCoeff(), rounding_of_sums<float>(300));
}

TEST(MatrixUnit, HasThreeNames) {
  EXPECT_EQ(detail::matrix_unit_named("off"), MatrixUnit::kNone);
  EXPECT_EQ(detail::matrix_unit_named("emulated"), MatrixUnit::kEmulated);
  EXPECT_EQ(detail::matrix_unit_named("auto") == MatrixUnit::kProcessor, detail::has_matrix_unit());
  for (const char* const other : {"", "on", "OFF", "emulated "}) {
    EXPECT_THROW(detail::matrix_unit_named(other), InputError) << other;
  }
}

TEST(MatrixUnit, OneAfterAnotherEndsAsBefore) {
  const MatrixUnit before = detail::matrix_unit();
  {
    const UseMatrixUnit first(MatrixUnit::kNone);
    EXPECT_EQ(detail::matrix_unit(), MatrixUnit::kNone);
    const UseMatrixUnit second(MatrixUnit::kEmulated);
    EXPECT_EQ(detail::matrix_unit(), MatrixUnit::kEmulated);
  }
  EXPECT_EQ(detail::matrix_unit(), before);
}

}  // namespace
}  // namespace tocca
