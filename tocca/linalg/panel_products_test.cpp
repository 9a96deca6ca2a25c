#include "tocca/linalg/panel_products.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/linalg/test_products.h"

namespace tocca {
namespace {

using tocca::testing::largest_deviation;
using tocca::testing::random;
using tocca::testing::rounding_of_sums;

constexpr int kBeyond = 12345;

// A matrix in panels of its own, with numbers behind it that stay.
template <class S>
class Owned {
 public:
  explicit Owned(Matrix<S> m)
      : room_(PanelMap<S>::room(m.rows(), m.cols())),
        memory_(static_cast<std::size_t>(room_ + 64), S(kBeyond)),
        map_(PanelMap<S>::in_panels(memory_.data(), m.rows(), m.cols())) {
    copy_panels<S>(m, map_);
  }

  [[nodiscard]] PanelMap<S> map() { return map_; }
  [[nodiscard]] Matrix<S> rows() {
    Matrix<S> m(map_.rows(), map_.cols());
    copy_panels<S>(map_, m);
    return m;
  }
  [[nodiscard]] bool beyond_is_untouched() const {
    for (std::size_t i = static_cast<std::size_t>(room_); i < memory_.size(); ++i) {
      if (memory_[i] != S(kBeyond)) return false;
    }
    return true;
  }

 private:
  Index room_;
  std::vector<S> memory_;
  PanelMap<S> map_;
};

// Numbers, and what multiplies them.
template <class T, detail::MatrixUnit unit>
struct Kind {
  using S = T;
  static detail::MatrixUnit here() {
    const bool is_missing = unit == detail::MatrixUnit::kProcessor && !detail::has_matrix_unit();
    return is_missing ? detail::MatrixUnit::kEmulated : unit;
  }
};

template <class K>
class PanelProducts : public ::testing::Test {
 protected:
  using S = typename K::S;
  S* packed() { return packed_; }

 private:
  detail::UseMatrixUnit unit_{K::here()};
  Workspace work_;
  S* packed_ = work_.matrix<S>(1, packed_numbers<S>()).data();
};
using Kinds = ::testing::Types<Kind<float, detail::MatrixUnit::kNone>, Kind<float, detail::MatrixUnit::kProcessor>,
                               Kind<float, detail::MatrixUnit::kEmulated>, Kind<double, detail::MatrixUnit::kNone>>;
TYPED_TEST_SUITE(PanelProducts, Kinds);

// Panels that are full or not, parts of vectors, several blocks of sums, and a tile's last rows.
TYPED_TEST(PanelProducts, EqualTheirDefinitionsForEveryRemainder) {
  using S = typename TypeParam::S;
  for (const Index m : {1, 7, 129, 150}) {
    for (const Index n : {1, 20, 48, 49, 96, 203}) {
      for (const Index k : {1, 24, 50, 144, 145, 300}) {
        const double tolerance = rounding_of_sums<S>(k);
        const Matrix<S> a = random<S>(m, k, "a"), b = random<S>(k, n, "b"), bt = b.transpose();
        const Matrix<double> want = a.template cast<double>() * b.template cast<double>();
        const auto error = [&](const Matrix<S>& c) { return largest_deviation<S>(c, want); };
        const S none = std::numeric_limits<S>::quiet_NaN();  // old values need not exist
        Owned<S> a_panels(a), c(Matrix<S>::Constant(m, n, none)), ct(Matrix<S>::Constant(m, n, none));
        multiply_panels<S>(a_panels.map(), b, c.map(), this->packed());
        multiply_panels_a_bt<S>(a_panels.map(), bt, ct.map(), this->packed());
        ASSERT_LT(error(c.rows()), tolerance) << m << " " << n << " " << k;
        ASSERT_TRUE(c.rows() == ct.rows()) << m << " " << n << " " << k;
        ASSERT_TRUE(c.beyond_is_untouched() && ct.beyond_is_untouched()) << m << " " << n << " " << k;
        Owned<S> at(a.transpose()), right(b);
        Matrix<S> inner = Matrix<S>::Constant(m + 2, n + 2, none);
        multiply_panels_at_b<S>(at.map(), right.map(), inner.block(1, 1, m, n), this->packed());
        ASSERT_LT(error(inner.block(1, 1, m, n)), tolerance) << m << " " << n << " " << k;
        inner.block(1, 1, m, n).setZero();
        ASSERT_EQ(inner.array().isNaN().count(), 2 * (m + 2) + 2 * n) << m << " " << n << " " << k;
      }
    }
  }
}

// Not on what is computed with it: pieces of a batch and columns that are made apart have the same bits.
TYPED_TEST(PanelProducts, ANumberDependsOnItsRowAndColumnAlone) {
  using S = typename TypeParam::S;
  const Index m = 170, k = 310, n = 200;
  const Matrix<S> b = random<S>(k, n, "b");
  Owned<S> a(random<S>(m, k, "a")), whole(Matrix<S>::Zero(m, n));
  multiply_panels<S>(a.map(), b, whole.map(), this->packed());
  for (const auto& [row, rows, first, count] :
       {std::tuple<Index, Index, Index, Index>{0, 70, 0, n}, {33, 5, 48, 96}, {169, 1, 192, 8}}) {
    const Matrix<S> before = random<S>(m, n, "c");
    Owned<S> c(before);
    multiply_panels<S>(a.map().middle_rows(row, rows), b.middleCols(first, count),
                       c.map().middle_rows(row, rows).middle_columns(first, count), this->packed());
    Matrix<S> want = before;
    want.block(row, first, rows, count) = whole.rows().block(row, first, rows, count);
    EXPECT_TRUE(c.rows() == want) << row << " " << first;
  }
  Owned<S> x(random<S>(m, 150, "x")), dy(random<S>(m, 70, "dy"));
  Matrix<S> all(150, 70), some(50, 70);
  multiply_panels_at_b<S>(x.map(), dy.map(), all, this->packed());
  multiply_panels_at_b<S>(x.map().middle_columns(96, 50), dy.map(), some, this->packed());
  EXPECT_TRUE(some == all.middleRows(96, 50));
}

// All columns, each once and in order, from where panels begin; with many rows as well, of which no columns stay in a
// cache. What is done with them may multiply by itself.
TYPED_TEST(PanelProducts, HandOnColumnsThatAreThere) {
  using S = typename TypeParam::S;
  for (const auto& [m, k, n] : {std::tuple<Index, Index, Index>{150, 40, 203}, {300, 700, 96}, {6000, 8, 130}}) {
    const Matrix<S> b = random<S>(k, n, "b"), bt = b.transpose(), square = random<S>(200, 200, "square");
    Owned<S> a(random<S>(m, k, "a")), c(Matrix<S>::Zero(m, n)), ct(Matrix<S>::Zero(m, n));
    Matrix<S> seen = Matrix<S>::Zero(m, n);
    Index next = 0;
    const auto handed_on = [&](Owned<S>& from) {
      next = 0;
      return [&](Index first, Index count) {
        ASSERT_EQ(first, next);
        ASSERT_TRUE(first % kPanelColumns<S> == 0 && count > 0);
        next += count;
        from.map().each_panel(first, next, from.map(), [&](Index column, Index columns) {
          seen.middleCols(column, columns) = from.map().part(column, columns);
        });
        Matrix<S> product(200, 200);
        multiply<S>(square, square, product);
        EXPECT_LT(largest_deviation<S>(product, square.template cast<double>() * square.template cast<double>()),
                  rounding_of_sums<S>(200));
      };
    };
    multiply_panels<S>(a.map(), b, c.map(), this->packed(), handed_on(c));
    EXPECT_EQ(next, n);
    EXPECT_TRUE(seen == c.rows());
    seen.setZero();
    multiply_panels_a_bt<S>(a.map(), bt, ct.map(), this->packed(), handed_on(ct));
    EXPECT_EQ(next, n);
    EXPECT_TRUE(seen == c.rows());
  }
}

TYPED_TEST(PanelProducts, EmptySumsAreZeroAndEmptyMatricesNothing) {
  using S = typename TypeParam::S;
  Owned<S> nothing(Matrix<S>(140, 0)), c(Matrix<S>::Ones(140, 50)), no_rows(Matrix<S>(0, 5)),
      no_rows_too(Matrix<S>(0, 3));
  const Matrix<S> zero = Matrix<S>::Zero(140, 50);
  multiply_panels<S>(nothing.map(), Matrix<S>(0, 50), c.map(), this->packed());
  EXPECT_EQ(c.rows(), zero);
  copy_panels<S>(Matrix<S>(Matrix<S>::Ones(140, 50)), c.map());
  multiply_panels_a_bt<S>(nothing.map(), Matrix<S>(50, 0), c.map(), this->packed());
  EXPECT_EQ(c.rows(), zero);
  Matrix<S> inner = Matrix<S>::Ones(5, 3);
  multiply_panels_at_b<S>(no_rows.map(), no_rows_too.map(), inner, this->packed());
  EXPECT_TRUE(inner.isZero(0));
  // Of nothing: no rows, and no columns.
  Owned<S> no_c(Matrix<S>(0, 3)), no_columns(Matrix<S>(140, 0)), fifty(Matrix<S>::Ones(140, 50));
  multiply_panels<S>(no_rows.map(), Matrix<S>::Ones(5, 3), no_c.map(), this->packed());
  multiply_panels_a_bt<S>(no_rows.map(), Matrix<S>::Ones(3, 5), no_c.map(), this->packed());
  multiply_panels<S>(fifty.map(), Matrix<S>(50, 0), no_columns.map(), this->packed());
  multiply_panels_a_bt<S>(fifty.map(), Matrix<S>(0, 50), no_columns.map(), this->packed());
  Matrix<S> wide(0, 50), high(50, 0);
  multiply_panels_at_b<S>(no_columns.map(), fifty.map(), wide, this->packed());
  multiply_panels_at_b<S>(fifty.map(), no_columns.map(), high, this->packed());
}

TYPED_TEST(PanelProducts, WrongShapesAndLayoutsAreErrors) {
  using S = typename TypeParam::S;
  Owned<S> a(Matrix<S>::Ones(4, 5)), c(Matrix<S>::Ones(4, 6));
  const Matrix<S> b = Matrix<S>::Ones(5, 6), other = Matrix<S>::Ones(6, 6);
  Matrix<S> by_rows = Matrix<S>::Ones(4, 6), inner = Matrix<S>::Ones(5, 6);
  EXPECT_THROW(multiply_panels<S>(a.map(), other, c.map(), this->packed()), InputError);
  EXPECT_THROW(multiply_panels<S>(a.map(), b, a.map(), this->packed()), InputError);
  EXPECT_THROW(multiply_panels<S>(a.map(), b, by_rows, this->packed()), InputError);
  EXPECT_THROW(multiply_panels_a_bt<S>(a.map(), other, c.map(), this->packed()), InputError);
  EXPECT_THROW(multiply_panels_at_b<S>(a.map(), c.map(), by_rows, this->packed()), InputError);
  EXPECT_THROW(multiply_panels_at_b<S>(a.map(), by_rows, inner, this->packed()), InputError);
}

}  // namespace
}  // namespace tocca
