#include "tocca/linalg/blocked.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "tocca/core/matrix.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/test_products.h"

namespace tocca {
namespace {

using tocca::testing::random;
using tocca::testing::rounding_of_sums;

template <class S>
detail::Product<S> product(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha, bool add) {
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  return {size(a.rows()), size(a.cols()), size(c.cols()), rows_of<S>(a), rows_of<S>(b), rows_of<S>(c), alpha, add,
          std::size_t{0}, size(c.cols())};
}

template <class S>
class BlockedTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockedTest, Scalars);

// Blocks and panels filled or not, one number only, and several blocks of sums, whose length they do not divide.
TYPED_TEST(BlockedTest, ProductsEqualTheirDefinitionsForEveryRemainder) {
  using S = TypeParam;
  for (const Index m : {1, 47, 48, 49, 150}) {
    for (const Index n : {1, 17, 48, 96, 100, 203}) {
      for (const Index k : {1, 5, 300, 512, 513, 1030}) {
        const Matrix<S> a = random<S>(m, k, "a"), b = random<S>(k, n, "b"), bt = b.transpose();
        const Matrix<S> old = random<S>(m, n, "c");
        const Matrix<double> ab = a.template cast<double>() * b.template cast<double>();
        for (const bool add : {false, true}) {
          Matrix<double> want = 1.5 * ab;
          if (add) want += old.template cast<double>();
          Matrix<S> c = old, ct = old;
          detail::blocked_a_b(product<S>(a, b, c, S(1.5), add));
          detail::blocked_a_bt(product<S>(a, bt, ct, S(1.5), add));
          const double tolerance = rounding_of_sums<S>(k);
          ASSERT_LT((c.template cast<double>() - want).cwiseAbs().maxCoeff(), tolerance) << m << " " << n << " " << k;
          ASSERT_EQ(c, ct) << m << " " << n << " " << k;
        }
      }
    }
  }
}

// Not on what is computed with it, nor on where it lies; and nothing beside C is written.
TYPED_TEST(BlockedTest, ANumberDependsOnItsRowAndColumnAlone) {
  using S = TypeParam;
  const Index m = 150, k = 700, n = 130;
  const Matrix<S> a = random<S>(m, k, "a"), b = random<S>(k, n, "b");
  Matrix<S> whole(m, n);
  detail::blocked_a_b(product<S>(a, b, whole, S(1), false));
  for (const auto& [row, rows, column, columns] :
       {std::tuple<Index, Index, Index, Index>{0, 70, 0, n}, {33, 5, 7, 50}, {149, 1, 129, 1}}) {
    const Matrix<S> around = random<S>(rows + 2, columns + 2, "c");
    Matrix<S> c = around, want = around;
    want.block(1, 1, rows, columns) = whole.block(row, column, rows, columns);
    detail::blocked_a_b(
        product<S>(a.middleRows(row, rows), b.middleCols(column, columns), c.block(1, 1, rows, columns), S(1), false));
    EXPECT_EQ(c, want) << row << " " << column;
  }
}

TYPED_TEST(BlockedTest, OldValuesNeedNotExist) {
  using S = TypeParam;
  const Matrix<S> a = Matrix<S>::Ones(130, 600), b = Matrix<S>::Ones(600, 50), bt = b.transpose();
  Matrix<S> c = Matrix<S>::Constant(130, 50, std::numeric_limits<S>::quiet_NaN()), ct = c;
  multiply<S>(a, b, c);
  multiply_a_bt<S>(a, bt, ct);
  EXPECT_EQ(c, (Matrix<S>::Constant(130, 50, S(600))));
  EXPECT_EQ(ct, c);
}

}  // namespace
}  // namespace tocca
