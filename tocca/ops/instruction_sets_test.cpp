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
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1)
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

template <class S>
void expect_same(const Matrix<S>& got, const Matrix<S>& want, bool to_the_bit, const char* what) {
  if (to_the_bit) {
    EXPECT_EQ(got, want) << what;
  } else {
    EXPECT_LT((got - want).cwiseAbs().maxCoeff(), 1000 * std::numeric_limits<S>::epsilon()) << what;
  }
}

TEST_P(InstructionSet, MakesTheSameProducts) {
  const auto check = [&]<class S>(S) {
    for (const Index m : {1, 5, 13, 32, 50, 100}) {
      const Matrix<S> a = random<S>(m, 300, "a"), b = random<S>(300, 83, "b"), bt = b.transpose();
      const auto [here, best] = here_and_best(GetParam(), [&] {
        std::pair c(Matrix<S>(m, 83), Matrix<S>(m, 83));
        multiply<S>(a, b, c.first);
        multiply_a_bt<S>(a, bt, c.second);
        return c;
      });
      expect_same<S>(here.first, best.first, fuses(), "A B");
      expect_same<S>(here.second, best.second, fuses(), "A Bt");
      expect_same<S>(here.first, a.lazyProduct(b), false, "A B and its definition");
      expect_same<S>(here.second, a.lazyProduct(b), false, "A Bt and its definition");
    }
  };
  check(float{});
  check(double{});
}

TEST_P(InstructionSet, MakesTheSameUpdates) {
  const auto check = [&]<class S>(S) {
    for (const auto& [samples, rows, columns] : {std::array<Index, 3>{3, 2, 5}, {32, 19, 83}, {100, 8, 48}}) {
      const Matrix<S> x = random<S>(samples, rows, "x"), dy = random<S>(samples, columns, "dy");
      const auto [here, best] = here_and_best(GetParam(), [&] {
        Matrix<S> arrays(3, rows * columns);
        arrays << random<S>(1, rows * columns, "p"), random<S>(1, rows * columns, "m"),
            random<S>(1, rows * columns, "v").cwiseAbs();
        NadamSchedule schedule;
        OuterScratch<S> scratch;
        const auto of = [](Index i) { return static_cast<std::size_t>(i); };
        nadam_update(
            NadamStep{{}, schedule.next({}), 0.01}, NadamArrays<S>{&arrays(0, 0), &arrays(1, 0), &arrays(2, 0)},
            OuterProduct<S>{x.data(), of(rows), dy.data(), of(columns), of(samples), of(rows), of(columns)}, scratch);
        return arrays;
      });
      expect_same<S>(here, best, fuses(), "parameters and moments");
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
