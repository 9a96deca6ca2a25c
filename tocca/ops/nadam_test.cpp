#include "tocca/ops/nadam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/ops/nadam_split.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"
#include "tocca/testing/threads.h"

namespace tocca {
namespace {

using tocca::testing::Golden;
using tocca::testing::idle_context;
using tocca::testing::max_error;
using tocca::testing::random_matrix;

// PyTorch before 2.0, which made the reference, counted μ_t twice in the product that looks one step ahead (its
// developers mended that in pull request 92699). The update itself is compared with the coefficients formed that way.
NadamCoefficients with_product_counted_twice(NadamCoefficients c, const NadamOptions& options, double step,
                                             double product) {
  const auto momentum_at = [&](double t) { return options.beta1 * (1 - 0.5 * std::pow(0.96, 0.004 * t)); };
  const double then = momentum_at(step + 1);
  c.moment = options.learning_rate * then / (1 - product * momentum_at(step) * then);
  return c;
}

TEST(Nadam, SixStepsAgreeWithTheReference) {
  const Golden golden("nadam");
  const NadamOptions options{.learning_rate = golden.number("lr"),
                             .beta1 = golden.number("beta1"),
                             .beta2 = golden.number("beta2"),
                             .epsilon = golden.number("eps"),
                             .schedule_decay = golden.number("schedule_decay")};
  Vector<double> p = golden.vector("p0");
  Vector<double> m = Vector<double>::Zero(p.size());
  Vector<double> v = m;
  NadamSchedule schedule;
  const Matrix<double> gradients = golden.matrix("gradients");
  const Matrix<double> parameters = golden.matrix("parameters");
  const auto n = static_cast<std::size_t>(p.size());
  for (Index step = 0; step < gradients.rows(); ++step) {
    const NadamCoefficients dozat = schedule.next(options);
    const auto c = with_product_counted_twice(dozat, options, schedule.step, schedule.momentum_product);
    nadam_update({options, c, 0}, {p.data(), m.data(), v.data()}, std::span(gradients.row(step).data(), n));
    EXPECT_LT(max_error(p.transpose(), parameters.row(step)), 1e-12);
  }
}

TEST(Nadam, ScheduleIsDozats) {
  const NadamOptions options{.learning_rate = 1};
  NadamSchedule schedule;
  double product = 1;
  for (int t = 1; t <= 5; ++t) {
    const NadamCoefficients c = schedule.next(options);
    const double now = 0.9 * (1 - 0.5 * std::pow(0.96, 0.004 * t));
    const double then = 0.9 * (1 - 0.5 * std::pow(0.96, 0.004 * (t + 1)));
    product *= now;
    EXPECT_NEAR(c.gradient, (1 - now) / (1 - product), 1e-14);
    EXPECT_NEAR(c.moment, then / (1 - product * then), 1e-14);
    EXPECT_NEAR(c.second, 1 / (1 - std::pow(0.999, t)), 1e-10);
  }
}

TEST(Nadam, WeightDecayIsAddedToTheGradient) {
  const NadamOptions options;
  NadamSchedule schedule;
  const NadamCoefficients c = schedule.next(options);
  double p1 = 2, p2 = 2, m1 = 0, m2 = 0, v1 = 0, v2 = 0;
  const double gradient = 0.5;
  const double with_decay = gradient + 0.1 * p1;
  nadam_update({options, c, 0.1}, {&p1, &m1, &v1}, std::span(&gradient, 1));
  nadam_update({options, c, 0}, {&p2, &m2, &v2}, std::span(&with_decay, 1));
  EXPECT_EQ(p1, p2);
  EXPECT_EQ(m1, m2);
}

template <class S>
class NadamOuterProduct : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NadamOuterProduct, Scalars);

// Shapes around the tiles: less than one, whole ones, and every kind of remainder.
TYPED_TEST(NadamOuterProduct, AgreesWithTheGradientWrittenOut) {
  using S = TypeParam;
  Rng rng(9);
  const auto draw = [&](Index rows, Index columns) { return Matrix<S>(random_matrix(rng, rows, columns).cast<S>()); };
  for (const auto& [samples, rows, columns] : {std::array<Index, 3>{2, 1, 1},
                                               {5, 3, 7},
                                               {32, 8, 24},
                                               {9, 13, 61},
                                               {1, 4, 100},
                                               {128, 30, 203},
                                               {40, 70, 600},
                                               {33, 5, 2500}}) {
    const Matrix<S> x = draw(samples, rows), dy = draw(samples, columns);
    Matrix<S> p = draw(rows, columns), m = draw(rows, columns), v = draw(rows, columns).cwiseAbs();
    Matrix<S> p2 = p, m2 = m, v2 = v;
    NadamSchedule schedule;
    const NadamOptions options;
    const NadamStep step{options, schedule.next(options), 0.01};
    const auto size = [](Index i) { return static_cast<std::size_t>(i); };
    // With room behind each row, which stays as it is.
    const S beside = 7;
    Matrix<S> dx = Matrix<S>::Constant(samples, rows + 3, beside);
    const Matrix<double> dx_of_old_weights = dy.template cast<double>() * p.template cast<double>().transpose();
    Workspace work;
    nadam_update(step, NadamArrays<S>{p.data(), m.data(), v.data()},
                 OuterProduct<S>{{x.data(), size(rows)},
                                 {dy.data(), size(columns)},
                                 size(samples),
                                 size(rows),
                                 size(columns),
                                 {dx.data(), size(rows + 3)}},
                 work);
    const Matrix<S> gradient = x.transpose() * dy;
    nadam_update(step, NadamArrays<S>{p2.data(), m2.data(), v2.data()},
                 std::span<const S>(gradient.data(), size(gradient.size())));
    const double tolerance = std::is_same_v<S, float> ? 1e-5 : 1e-13;
    const Matrix<double> dx_here = dx.leftCols(rows).template cast<double>();
    // Sums of 512 terms at most: in float the error of one long sum of 2500 would be above this.
    EXPECT_LT(max_error(dx_here, dx_of_old_weights), 10 * tolerance);
    EXPECT_TRUE((dx.rightCols(3).array() == beside).all());
    EXPECT_LT(max_error(p.template cast<double>(), p2.template cast<double>()), tolerance);
    EXPECT_LT(max_error(m.template cast<double>(), m2.template cast<double>()), tolerance);
    EXPECT_LT(max_error(v.template cast<double>(), v2.template cast<double>()), tolerance);
  }
}

// What falls where vectors and cache lines begin must not show: neither in the bits, nor beside the matrix.
TYPED_TEST(NadamOuterProduct, DoesNotDependOnWhereTheParametersLie) {
  using S = TypeParam;
  Rng rng(10);
  for (const auto& [rows, columns] : {std::array<Index, 2>{1, 1}, {3, 5}, {9, 20}, {16, 16}, {21, 67}}) {
    const Index samples = 6, size = rows * columns;
    const Matrix<S> x = random_matrix(rng, samples, rows).template cast<S>(),
                    dy = random_matrix(rng, samples, columns).template cast<S>();
    const Matrix<S> start = random_matrix(rng, 3, size).cwiseAbs().template cast<S>();
    NadamSchedule schedule;
    const NadamStep step{{}, schedule.next({}), 0.01};
    Matrix<S> first, first_dx;
    for (Index shift = 0; shift < 17; ++shift) {
      const S beside = 7;
      Matrix<S> arrays = Matrix<S>::Constant(3, size + 40, beside);
      arrays.middleCols(shift, size) = start;
      Workspace work;
      Matrix<S> dx(samples, rows);
      const bool wants_dx = shift != 1;  // which changes nothing else
      const auto of = [](Index i) { return static_cast<std::size_t>(i); };
      nadam_update(step, NadamArrays<S>{&arrays(0, shift), &arrays(1, shift), &arrays(2, shift)},
                   OuterProduct<S>{{x.data(), of(rows)},
                                   {dy.data(), of(columns)},
                                   of(samples),
                                   of(rows),
                                   of(columns),
                                   {wants_dx ? dx.data() : nullptr, of(rows)}},
                   work);
      const Matrix<S> got = arrays.middleCols(shift, size);
      if (shift == 0) {
        first = got;
        first_dx = dx;
      }
      if (wants_dx) {
        EXPECT_EQ(dx, first_dx) << rows << " x " << columns << ", " << shift;
      }
      EXPECT_EQ(got, first) << rows << " x " << columns << ", " << shift;
      EXPECT_TRUE((arrays.leftCols(shift).array() == beside).all());
      EXPECT_TRUE((arrays.rightCols(40 - shift).array() == beside).all());
    }
  }
}

// Second moments from nothing to overflow, where the update in float divides by way of an estimate. As many as fill
// vectors, and a rest.
TEST(Nadam, FloatAgreesWithDoubleForMomentsOfAnySize) {
  NadamSchedule schedule;
  const NadamStep step{{}, schedule.next({}), 0};
  std::vector<float> v = {0, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()};
  for (int exponent = -126; exponent < 128; ++exponent) {
    for (const float mantissa : {1.0F, 1.2F, 1.5F, 1.9F}) v.push_back(std::ldexp(mantissa, exponent));
  }
  std::vector<float> gradient(v.size()), p(v.size(), 0), m(v.size(), 0);
  for (std::size_t i = 0; i < v.size(); ++i) gradient[i] = std::isinf(v[i]) ? 1e35F : 0.1F * std::sqrt(v[i]);
  const std::vector<double> gradient2(gradient.begin(), gradient.end());
  std::vector<double> p2(v.size(), 0), m2(v.size(), 0), v2(v.begin(), v.end());
  nadam_update(step, {p.data(), m.data(), v.data()}, gradient);
  nadam_update(step, {p2.data(), m2.data(), v2.data()}, gradient2);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(p[i], p2[i], 1e-6 * std::abs(p2[i])) << i << " " << v[i];
}

TEST(Nadam, ShowsWhatIsNotANumber) {
  NadamSchedule schedule;
  const NadamStep step{{}, schedule.next({}), 0};
  std::vector<float> gradient(17, 1), p(17, 1), m(17, 0), v(17, std::numeric_limits<float>::quiet_NaN());
  nadam_update(step, {p.data(), m.data(), v.data()}, gradient);
  EXPECT_TRUE(std::all_of(p.begin(), p.end(), [](float x) { return std::isnan(x); }));
}

// By the matrix unit, or its emulation: what it makes is what products and an update make one after the other. Tiles
// filled or not, with 16, 32 and more samples, rows and columns, wherever the parameters lie; nothing beside is
// written.
TEST(NadamByUnit, IsGradientsAndAnUpdate) {
  using detail::MatrixUnit;
  const MatrixUnit unit = detail::has_matrix_unit() ? MatrixUnit::kProcessor : MatrixUnit::kEmulated;
  Rng rng(11);
  NadamSchedule schedule;
  const NadamStep step{{.learning_rate = 0.1}, schedule.next({.learning_rate = 0.1}), 0.01};
  for (const auto& [samples, rows, columns, shift] : {std::array<Index, 4>{32, 128, 128, 0},
                                                      {30, 130, 150, 3},
                                                      {33, 145, 128, 1},
                                                      {100, 300, 84, 15},
                                                      {128, 97, 209, 0},
                                                      {40, 600, 40, 5}}) {
    const Index size = rows * columns;
    const Matrix<float> x = random_matrix(rng, samples, rows).cast<float>(),
                        dy = random_matrix(rng, samples, columns).cast<float>();
    const float beside = 7;
    Matrix<float> start = Matrix<float>::Constant(3, size + 40, beside);
    start.middleCols(shift, size) = random_matrix(rng, 3, size).cwiseAbs().cast<float>();
    const auto made = [&](MatrixUnit kind, bool wants_dx) {
      const detail::UseMatrixUnit use(kind);
      Matrix<float> arrays = start, dx = Matrix<float>::Constant(samples, rows + 3, beside);
      Workspace work;
      const auto of = [](Index i) { return static_cast<std::size_t>(i); };
      const OuterProduct<float> g{{x.data(), of(rows)}, {dy.data(), of(columns)},
                                  of(samples),          of(rows),
                                  of(columns),          {wants_dx ? dx.data() : nullptr, of(rows + 3)}};
      EXPECT_EQ(detail::split_update_is_faster(g), kind != MatrixUnit::kNone);
      nadam_update(step, NadamArrays<float>{&arrays(0, shift), &arrays(1, shift), &arrays(2, shift)}, g, work);
      return std::pair(arrays, dx);
    };
    const auto [got, dx] = made(unit, true);
    const auto [want, want_dx] = made(MatrixUnit::kNone, true);
    EXPECT_TRUE(made(unit, false).first == got) << samples << " " << rows << " " << columns;
    EXPECT_TRUE(made(MatrixUnit::kEmulated, true).first == got) << samples << " " << rows << " " << columns;
    const auto error = [](const Matrix<float>& a, const Matrix<float>& b) {
      return (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
    };
    EXPECT_LT(error(got, want), 2e-5) << samples << " " << rows << " " << columns;
    EXPECT_LT(error(dx, want_dx), 5e-5) << samples << " " << rows << " " << columns;
    EXPECT_TRUE((dx.rightCols(3).array() == beside).all());
    EXPECT_TRUE((got.leftCols(shift).array() == beside).all() && (got.rightCols(40 - shift).array() == beside).all());
  }
}

// Rows that several threads share.
TEST(NadamByUnit, HasTheSameBitsForEveryNumberOfThreads) {
  const detail::UseMatrixUnit use(detail::has_matrix_unit() ? detail::MatrixUnit::kProcessor
                                                            : detail::MatrixUnit::kEmulated);
  const Index samples = 32, rows = 900, columns = 230;
  Rng rng(12);
  const Matrix<float> x = random_matrix(rng, samples, rows).cast<float>(),
                      dy = random_matrix(rng, samples, columns).cast<float>();
  const Matrix<float> start = random_matrix(rng, 3, rows * columns).cwiseAbs().cast<float>();
  NadamSchedule schedule;
  const NadamStep step{{}, schedule.next({}), 0};
  const auto made = [&](int threads) {
    const Context context = idle_context(threads);
    Matrix<float> arrays = start, dx(samples, rows);
    Workspace work;
    const auto of = [](Index i) { return static_cast<std::size_t>(i); };
    nadam_update(
        step, NadamArrays<float>{&arrays(0, 0), &arrays(1, 0), &arrays(2, 0)},
        OuterProduct<float>{
            {x.data(), of(rows)}, {dy.data(), of(columns)}, of(samples), of(rows), of(columns), {dx.data(), of(rows)}},
        work, Pieces{&context});
    return std::pair(arrays, dx);
  };
  const auto one = made(1), three = made(3);
  EXPECT_TRUE(one.first == three.first);
  EXPECT_TRUE(one.second == three.second);
}

TYPED_TEST(NadamOuterProduct, OfNoColumnsIsAnInputGradientOfZeros) {
  using S = TypeParam;
  Matrix<S> dx = Matrix<S>::Constant(4, 3, 7), x = dx;
  Workspace work;
  nadam_update(NadamStep{}, NadamArrays<S>{nullptr, nullptr, nullptr},
               OuterProduct<S>{{x.data(), 3}, {nullptr, 0}, 4, 3, 0, {dx.data(), 3}}, work);
  EXPECT_TRUE(dx.isZero(0));
}

TYPED_TEST(NadamOuterProduct, OfNoSamplesIsAGradientOfZeros) {
  using S = TypeParam;
  NadamSchedule schedule;
  const NadamStep step{{}, schedule.next({}), 0.01};
  const std::vector<S> zeros(6, 0);
  std::vector<S> p(6, 1), m(6, 1), v(6, 1), p2 = p, m2 = m, v2 = v;
  Workspace work;
  nadam_update(step, NadamArrays<S>{p.data(), m.data(), v.data()}, OuterProduct<S>{{nullptr, 2}, {nullptr, 3}, 0, 2, 3},
               work);
  nadam_update(step, NadamArrays<S>{p2.data(), m2.data(), v2.data()}, std::span<const S>(zeros));
  EXPECT_EQ(p, p2);
  EXPECT_EQ(m, m2);
  EXPECT_EQ(v, v2);
}

}  // namespace
}  // namespace tocca
