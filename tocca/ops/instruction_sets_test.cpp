// The kernels of every instruction set that this machine has, of which a run uses one only.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/blocked.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/linalg/panel_products.h"
#include "tocca/linalg/symmetric.h"
#include "tocca/ops/nadam.h"

namespace tocca {
namespace {

// One instruction set, until the end of the test.
class InstructionSet : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  // Multiplication and addition are one rounding: sums are then the same with vectors of any length.
  [[nodiscard]] static bool fuses() { return (GetParam() & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL | HWY_NEON)) != 0; }

  template <class S>
  static Matrix<S> random(Index rows, Index columns, const char* name) {
    Rng rng = Rng(7).split(name);
    return Matrix<S>::NullaryExpr(rows, columns, [&] { return static_cast<S>(rng.normal()); });
  }
};

std::vector<std::int64_t> targets_here() {
  std::vector<std::int64_t> targets;
  // The kernels leave out vectors whose length the compiler does not know.
  constexpr std::int64_t kKernels = HWY_TARGETS & ~(HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV);
  for (std::int64_t rest = hwy::SupportedTargets() & kKernels; rest != 0; rest &= rest - 1)
    targets.push_back(rest & -rest);
  return targets;
}
std::string name_of(const ::testing::TestParamInfo<std::int64_t>& info) { return hwy::TargetName(info.param); }
INSTANTIATE_TEST_SUITE_P(OfThisMachine, InstructionSet, ::testing::ValuesIn(targets_here()), name_of);

// What `compute` gives with this instruction set, and with the best one.
template <class F>
auto here_and_best(std::int64_t target, F compute) {
  auto here = compute();
  hwy::SetSupportedTargetsForTest(0);
  auto best = compute();
  hwy::SetSupportedTargetsForTest(target);
  return std::pair(here, best);
}

// Relative to the largest number: to the bit, or to rounding.
template <class S>
void expect_same(const Matrix<S>& got, const Matrix<S>& want, bool to_the_bit, const char* what) {
  if (to_the_bit) {
    EXPECT_EQ(got, want) << what;
  } else {
    const S scale = want.cwiseAbs().maxCoeff();
    EXPECT_LT((got - want).cwiseAbs().maxCoeff(), 50 * std::numeric_limits<S>::epsilon() * scale) << what;
  }
}

// A B, A Bᵀ and Aᵀ B, or the first of them.
template <class S, std::size_t kProducts>
void expect_products(const std::array<Matrix<S>, kProducts>& here, const std::array<Matrix<S>, kProducts>& best,
                     const std::array<Matrix<S>, kProducts>& want, bool to_the_bit) {
  const char* const names[] = {"A B", "A Bt", "At B"};
  for (std::size_t i = 0; i < kProducts; ++i) {
    expect_same<S>(here[i], best[i], to_the_bit, names[i]);
    expect_same<S>(here[i], want[i], false, names[i]);
  }
}

TEST_P(InstructionSet, MakesTheSameProducts) {
  const auto check = [&]<class S>(S) {
    for (const Index m : {1, 5, 13, 32, 50, 100}) {
      const Matrix<S> a = random<S>(m, 300, "a"), b = random<S>(300, 83, "b");
      const Matrix<S> at = a.leftCols(70).transpose(), bt = b.transpose(), few = b.topRows(70);
      const auto [here, best] = here_and_best(GetParam(), [&] {
        std::array<Matrix<S>, 3> c = {Matrix<S>(m, 83), Matrix<S>(m, 83), Matrix<S>(m, 83)};
        multiply<S>(a, b, c[0]);
        multiply_a_bt<S>(a, bt, c[1]);
        multiply_at_b<S>(at, few, c[2]);
        return c;
      });
      const Matrix<S> product = a.lazyProduct(b);
      const std::array<Matrix<S>, 3> want = {product, product, a.leftCols(70).lazyProduct(few)};
      expect_products<S>(here, best, want, fuses());
    }
  };
  check(float{});
  check(double{});
}

TEST_P(InstructionSet, MakesTheSameLargeProducts) {
  const auto check = [&]<class S>(S) {
    const Index m = 150, k = 700, n = 130;
    Matrix<S> a = random<S>(m, k, "a"), b = random<S>(k, n, "b"), bt = b.transpose();
    const auto [here, best] = here_and_best(GetParam(), [&] {
      std::array<Matrix<S>, 2> c = {Matrix<S>(m, n), Matrix<S>(m, n)};
      const auto of = [](Index i) { return static_cast<std::size_t>(i); };
      const auto product = [&](Matrix<S>& right, Matrix<S>& to) {
        return detail::Product<S>{
            of(m), of(k), of(n), {a.data(), of(k)}, {right.data(), of(right.cols())}, {to.data(), of(n)}, 1,
            false, 0,     of(n)};
      };
      detail::blocked_a_b(product(b, c[0]));
      detail::blocked_a_bt(product(bt, c[1]));
      return c;
    });
    const Matrix<S> product = a.lazyProduct(b);
    expect_products<S, 2>(here, best, {product, product}, fuses());
  };
  check(float{});
  check(double{});
}

TEST_P(InstructionSet, MakesTheSameProductsInPanels) {
  const auto check = [&]<class S>(S, detail::MatrixUnit unit) {
    const detail::UseMatrixUnit use(unit);
    const Index m = 150, k = 310, n = 130;
    const Matrix<S> a = random<S>(m, k, "a"), b = random<S>(k, n, "b"), bt = b.transpose(), dy = random<S>(m, n, "dy");
    Workspace work;
    S* const packed = work.matrix<S>(1, packed_numbers<S>()).data();
    const auto [here, best] = here_and_best(GetParam(), [&] {
      Workspace memory;
      const auto place = [&](Index columns) { return BatchPanels<S>(memory, m, columns).top(m); };
      const PanelMap<S> left = place(k), right = place(n), product = place(n), transposed = place(n);
      copy_panels<S>(a, left);
      copy_panels<S>(dy, right);
      multiply_panels<S>(left, b, product, packed);
      multiply_panels_a_bt<S>(left, bt, transposed, packed);
      std::array<Matrix<S>, 3> c = {Matrix<S>(m, n), Matrix<S>(m, n), Matrix<S>(k, n)};
      copy_panels<S>(product, c[0]);
      copy_panels<S>(transposed, c[1]);
      multiply_panels_at_b<S>(left, right, c[2], packed);
      return c;
    });
    const Matrix<S> product = a.lazyProduct(b);
    const std::array<Matrix<S>, 3> want = {product, product, a.transpose().lazyProduct(dy)};
    expect_products<S>(here, best, want, fuses());
  };
  check(float{}, detail::MatrixUnit::kNone);
  check(float{}, detail::MatrixUnit::kEmulated);
  check(double{}, detail::MatrixUnit::kNone);
}

TEST_P(InstructionSet, MakesTheSameUpdates) {
  const auto check = [&]<class S>(S) {
    for (const auto& [samples, rows, columns] : {std::array<Index, 3>{3, 2, 5}, {32, 49, 83}, {100, 8, 48}}) {
      const Index size = rows * columns;
      const Matrix<S> x = random<S>(samples, rows, "x"), dy = random<S>(samples, columns, "dy");
      Matrix<S> start(3, size);
      start << random<S>(1, size, "p"), random<S>(1, size, "m"), random<S>(1, size, "v").cwiseAbs();
      NadamSchedule schedule;
      const NadamStep step{{.learning_rate = 0.1}, schedule.next({.learning_rate = 0.1}), 0.01};
      const auto [results, best_results] = here_and_best(GetParam(), [&] {
        Matrix<S> arrays = start, dx(samples, rows);
        Workspace work;
        const auto of = [](Index i) { return static_cast<std::size_t>(i); };
        nadam_update(step, NadamArrays<S>{&arrays(0, 0), &arrays(1, 0), &arrays(2, 0)},
                     OuterProduct<S>{{x.data(), of(rows)},
                                     {dy.data(), of(columns)},
                                     of(samples),
                                     of(rows),
                                     of(columns),
                                     {dx.data(), of(rows)}},
                     work);
        return std::pair(arrays, dx);
      });
      const auto& [here, dx] = results;
      const auto& [best, best_dx] = best_results;
      const Matrix<S> weights = Eigen::Map<const Matrix<S>>(start.data(), rows, columns);
      expect_same<S>(dx, best_dx, fuses(), "dx");
      expect_same<S>(dx, dy * weights.transpose(), false, "dx");
      // The definition, in double.
      const Matrix<double> old = start.template cast<double>();
      const Matrix<double> product = x.template cast<double>().transpose() * dy.template cast<double>();
      const auto g = Eigen::Map<const RowVector<double>>(product.data(), size).array() + 0.01 * old.row(0).array();
      Matrix<double> want(3, size);
      want.row(1) = 0.9 * old.row(1).array() + 0.1 * g;
      want.row(2) = 0.999 * old.row(2).array() + 0.001 * g.square();
      const NadamCoefficients c = step.coefficients;
      want.row(0) =
          (c.gradient * g + c.moment * want.row(1).array()) / ((c.second * want.row(2).array()).sqrt() + 1e-7);
      Matrix<S> moved = here;
      moved.row(0) = start.row(0) - here.row(0);
      const char* const names[] = {"step", "first moment", "second moment"};
      for (Index i = 0; i < 3; ++i) {
        expect_same<S>(here.row(i), best.row(i), fuses(), names[i]);
        expect_same<S>(moved.row(i), want.row(i).template cast<S>(), false, names[i]);
      }
    }
  };
  check(float{});
  check(double{});
}

TEST_P(InstructionSet, FindsTheSameEigenvalues) {
  for (const Index d : {1, 2, 9, 50, 100}) {
    const Matrix<double> a = random<double>(2 * d + 5, d, "a"), s = a.transpose() * a / static_cast<double>(d);
    const auto [here, best] = here_and_best(GetParam(), [&] { return symmetric_eigen(s); });
    EXPECT_LT((here.values - best.values).cwiseAbs().maxCoeff(), 1e-13 * best.values.maxCoeff()) << d;
    const Matrix<double>& v = here.vectors;
    EXPECT_LT((s * v - v * here.values.asDiagonal()).cwiseAbs().maxCoeff(), 1e-13 * best.values.maxCoeff()) << d;
    EXPECT_LT((v.transpose() * v - Matrix<double>::Identity(d, d)).cwiseAbs().maxCoeff(), 1e-13) << d;
  }
}

}  // namespace
}  // namespace tocca
