#include "tocca/linalg/blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tocca/core/context.h"
#include "tocca/core/error.h"
#include "tocca/core/rng.h"

namespace tocca {
namespace {

template <class S>
class BlasTest : public ::testing::Test {
 protected:
  static Matrix<S> random(Index rows, Index cols, const char* name) {
    Rng rng = Rng(3).split(name);
    return Matrix<S>::NullaryExpr(rows, cols, [&] { return static_cast<S>(rng.normal()); });
  }
  static void expect_near(const Matrix<S>& got, const Matrix<S>& want) {
    ASSERT_EQ(got.rows(), want.rows());
    ASSERT_EQ(got.cols(), want.cols());
    if (got.size() > 0) {
      EXPECT_LT((got - want).cwiseAbs().template maxCoeff<Eigen::PropagateNaN>(),
                S{100} * std::numeric_limits<S>::epsilon());
    }
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlasTest, Scalars);

TYPED_TEST(BlasTest, ProductsEqualTheirDefinitions) {
  using S = TypeParam;
  const Matrix<S> a = this->random(5, 3, "a"), b = this->random(3, 4, "b"), c0 = this->random(5, 4, "c");
  const Matrix<S> at = a.transpose(), bt = b.transpose();
  const Matrix<S> want = S{2} * a.lazyProduct(b) + S{0.5} * c0;
  Matrix<S> c = c0;
  multiply<S>(a, b, c, S{2}, S{0.5});
  this->expect_near(c, want);
  c = c0;
  multiply_at_b<S>(at, b, c, S{2}, S{0.5});
  this->expect_near(c, want);
  c = c0;
  multiply_a_bt<S>(a, bt, c, S{2}, S{0.5});
  this->expect_near(c, want);
}

TYPED_TEST(BlasTest, GramMatrixHasBothTriangles) {
  using S = TypeParam;
  // Small ones in one block and in two, with panels of every width, and large ones.
  for (const auto& [rows, columns] : {std::pair<Index, Index>{6, 71}, {300, 50}, {1, 1}, {5, 24}, {110, 130}}) {
    const Matrix<S> a = this->random(rows, columns, "a") / std::sqrt(static_cast<S>(rows));
    const Matrix<S> one = Matrix<S>::Identity(columns, columns);
    Matrix<S> c = one;
    multiply_at_a<S>(a, c, S{0.5}, S{3});
    this->expect_near(c, S{0.5} * a.transpose().lazyProduct(a) + S{3} * one);
    EXPECT_TRUE(c == c.transpose()) << rows << " " << columns;
    c.setConstant(std::numeric_limits<S>::quiet_NaN());
    multiply_at_a<S>(a, c);
    this->expect_near(c, a.transpose().lazyProduct(a));
    EXPECT_TRUE(c == c.transpose()) << rows << " " << columns;
  }
}

TYPED_TEST(BlasTest, TakesAndFillsBlocksOfLargerMatrices) {
  using S = TypeParam;
  const Matrix<S> a = this->random(7, 9, "a"), b = this->random(8, 6, "b");
  Matrix<S> c = Matrix<S>::Constant(5, 5, S{-1});
  multiply<S>(a.block(1, 2, 3, 4), b.block(2, 1, 4, 2), c.block(1, 1, 3, 2));
  Matrix<S> want = Matrix<S>::Constant(5, 5, S{-1});
  want.block(1, 1, 3, 2) = a.block(1, 2, 3, 4).lazyProduct(b.block(2, 1, 4, 2));
  this->expect_near(c, want);
}

TYPED_TEST(BlasTest, TakesVectorsAndSingleRows) {
  using S = TypeParam;
  const Matrix<S> a = this->random(4, 3, "a");
  const Vector<S> v = this->random(3, 1, "v");
  Matrix<S> c(4, 1);
  multiply<S>(a, v, c);
  this->expect_near(c, a.lazyProduct(v));
  Matrix<S> r(1, 3);
  multiply<S>(a.row(2), Matrix<S>::Identity(3, 3), r);
  this->expect_near(r, a.row(2));
}

// Few rows and a large matrix take kernels of their own, and so does what is small: every remainder of their tiles,
// next to numbers that must stay.
TYPED_TEST(BlasTest, ProductsOfFewRowsEqualTheirDefinitionsForEveryRemainder) {
  using S = TypeParam;
  for (const Index m : {1, 2, 4, 7, 13, 32, 50, 100, 128, 129, 300}) {
    for (const Index k : {1, 3, 7, 31, 256, 300, 1100}) {
      for (const Index n : {1, 5, 23, 24, 50, 97}) {
        // Blocks of wider matrices, so that no stride is a width.
        const Matrix<S> wide_a = this->random(m, k + 3, "a"), wide_b = this->random(k, n + 5, "b");
        const auto a = wide_a.middleCols(2, k);
        const auto b = wide_b.middleCols(1, n);
        Matrix<S> wider_at = Matrix<S>::Zero(k, m + 2), wider_bt = Matrix<S>::Zero(n, k + 4);
        wider_at.middleCols(1, m) = a.transpose();
        wider_bt.middleCols(3, k) = b.transpose();
        const auto at = wider_at.middleCols(1, m);
        const auto bt = wider_bt.middleCols(3, k);
        const Matrix<S> c0 = this->random(m + 2, n + 2, "c");
        const Matrix<S> product = a.lazyProduct(b);
        const S tolerance = static_cast<S>(4 * k + 50) * std::numeric_limits<S>::epsilon();
        for (const auto& [alpha, beta] : {std::pair<S, S>{1, 0}, {1, 1}, {-0.5, 0}, {-0.5, 1}, {2, 0.25}}) {
          Matrix<S> want = c0;
          want.block(1, 1, m, n) = alpha * product + beta * c0.block(1, 1, m, n);
          const auto check = [&](const Matrix<S>& c, const char* which) {
            EXPECT_LT((c - want).cwiseAbs().maxCoeff(), tolerance) << which << " " << m << " " << k << " " << n;
          };
          Matrix<S> c = c0;
          multiply<S>(a, b, c.block(1, 1, m, n), alpha, beta);
          check(c, "A B");
          c = c0;
          multiply_a_bt<S>(a, bt, c.block(1, 1, m, n), alpha, beta);
          check(c, "A Bt");
          c = c0;
          multiply_at_b<S>(at, b, c.block(1, 1, m, n), alpha, beta);
          check(c, "At B");
        }
      }
    }
  }
}

// The bits of a product of few rows depend on its numbers, not on what lies around them.
TYPED_TEST(BlasTest, ProductsOfFewRowsDoNotDependOnStrides) {
  using S = TypeParam;
  const Index m = 13, k = 600, n = 83;
  const Matrix<S> a = this->random(m, k, "a"), b = this->random(k, n, "b"), bt = b.transpose();
  Matrix<S> wide = this->random(k, 4000, "wide"), wide_t = this->random(n, 4000, "wide");
  wide.middleCols(7, n) = b;
  wide_t.middleCols(7, k) = bt;
  Matrix<S> c1(m, n), c2(m, n);
  multiply<S>(a, b, c1);
  multiply<S>(a, wide.middleCols(7, n), c2);
  EXPECT_EQ(c1, c2);
  multiply_a_bt<S>(a, bt, c1);
  multiply_a_bt<S>(a, wide_t.middleCols(7, k), c2);
  EXPECT_EQ(c1, c2);
}

// Whatever the columns are, vectors and panels filled or not, the first ones or the last: to the last bit.
TYPED_TEST(BlasTest, ColumnsApartAreThoseOfTheWhole) {
  using S = TypeParam;
  for (const auto& [m, k, n] : {std::tuple<Index, Index, Index>{1, 300, 83}, {13, 600, 500}, {128, 70, 171}}) {
    const Matrix<S> a = this->random(m, k, "a"), b = this->random(k, n, "b"), old = this->random(m, n, "c");
    for (const auto& [alpha, beta] : {std::pair<S, S>{2, 0}, {2, 1}, {2, 0.5}, {1, 0}, {1, 1}}) {
      Matrix<S> whole = old;
      multiply<S>(a, b, whole, alpha, beta);
      for (const auto& [first, count] : {std::pair<Index, Index>{0, n}, {0, 48}, {48, 1}, {5, 17}, {n - 35, 35}}) {
        Matrix<S> want = old, c = old;
        want.middleCols(first, count) = whole.middleCols(first, count);
        multiply_columns<S>(a, b, c, first, count, alpha, beta);
        EXPECT_EQ(c, want) << m << " " << n << " " << first << " " << count;
      }
      Matrix<S> c = old;
      multiply_columns<S>(a, b, c, 7, 0, alpha, beta);
      EXPECT_EQ(c, old);
    }
  }
}

TYPED_TEST(BlasTest, RefusesColumnsThatAreNotThere) {
  using S = TypeParam;
  const Matrix<S> a = this->random(3, 4, "a"), b = this->random(4, 5, "b"), many = this->random(129, 4, "a");
  Matrix<S> c(3, 5), tall(129, 5);
  for (const auto& [first, count] : {std::pair<Index, Index>{-1, 2}, {0, -1}, {0, 6}, {3, 3}}) {
    EXPECT_THROW(multiply_columns<S>(a, b, c, first, count), InputError) << first << " " << count;
  }
  EXPECT_THROW(multiply_columns<S>(a, b, tall, 0, 1), InputError);
  EXPECT_THROW(multiply_columns<S>(many, b, tall, 0, 1), InputError);
}

TYPED_TEST(BlasTest, ProductsOfNoRowsWithLargeMatricesAreNothing) {
  using S = TypeParam;
  const Matrix<S> none(0, 1000), square = Matrix<S>::Ones(1000, 1000);
  Matrix<S> c(0, 1000);
  multiply<S>(none, square, c);
  multiply_a_bt<S>(none, square, c);
  EXPECT_EQ(c.size(), 0);
}

TYPED_TEST(BlasTest, ProductsOfFewRowsNeedNoOldValues) {
  using S = TypeParam;
  Matrix<S> c = Matrix<S>::Constant(3, 40, std::numeric_limits<S>::quiet_NaN());
  multiply<S>(Matrix<S>::Ones(3, 64), Matrix<S>::Ones(64, 40), c);
  EXPECT_EQ(c, (Matrix<S>::Constant(3, 40, S{64})));
  c.setConstant(std::numeric_limits<S>::quiet_NaN());
  multiply_a_bt<S>(Matrix<S>::Ones(3, 64), Matrix<S>::Ones(40, 64), c);
  EXPECT_EQ(c, (Matrix<S>::Constant(3, 40, S{64})));
}

TYPED_TEST(BlasTest, EmptySumsAreZeroAndOldValuesNeedNotExist) {
  using S = TypeParam;
  Matrix<S> c = Matrix<S>::Constant(2, 3, std::numeric_limits<S>::quiet_NaN());
  multiply<S>(Matrix<S>(2, 0), Matrix<S>(0, 3), c);
  EXPECT_EQ(c, (Matrix<S>::Zero(2, 3)));
  Matrix<S> g = Matrix<S>::Constant(3, 3, std::numeric_limits<S>::quiet_NaN());
  multiply_at_a<S>(Matrix<S>(0, 3), g);
  EXPECT_EQ(g, (Matrix<S>::Zero(3, 3)));
  g.setOnes();
  multiply_at_b<S>(Matrix<S>(0, 3), Matrix<S>(0, 3), g, S{1}, S{2});
  EXPECT_EQ(g, (Matrix<S>::Constant(3, 3, S{2})));
  Matrix<S> nothing(0, 3);
  multiply<S>(Matrix<S>(0, 5), Matrix<S>(5, 3), nothing);
  multiply_a_bt<S>(Matrix<S>(0, 5), Matrix<S>(3, 5), nothing);
  c.setConstant(std::numeric_limits<S>::quiet_NaN());
  multiply<S>(Matrix<S>::Ones(2, 2), Matrix<S>::Ones(2, 3), c);
  EXPECT_EQ(c, (Matrix<S>::Constant(2, 3, S{2})));
}

TYPED_TEST(BlasTest, SameBitsInEveryThread) {
  using S = TypeParam;
  const Matrix<S> a = this->random(300, 70, "a"), b = this->random(300, 50, "b");
  std::vector<Matrix<S>> products(16, Matrix<S>(70, 50));
  make_context(4).parallel(16, [&](Index i) { multiply_at_b<S>(a, b, products[static_cast<std::size_t>(i)]); });
  for (const auto& product : products) EXPECT_EQ(product, products[0]);
}

TYPED_TEST(BlasTest, RefusesShapesThatDiffer) {
  using S = TypeParam;
  const Matrix<S> a(2, 3), b(4, 5);
  Matrix<S> c(2, 5);
  EXPECT_THAT([&] { multiply<S>(a, b, c); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::StrEq("[multiply] inner dimensions: got 3 and 4, need equal ones; check both matrices")));
  EXPECT_THAT([&] { multiply_at_a<S>(a, c); }, ::testing::ThrowsMessage<InputError>(::testing::StrEq(
                                                   "[multiply_at_a] shape of C: got 2 x 5, need 3 x 3; resize it")));
  EXPECT_THROW(multiply_at_b<S>(a, b, c), InputError);
  EXPECT_THROW(multiply_a_bt<S>(a, b, c), InputError);
}

}  // namespace
}  // namespace tocca
