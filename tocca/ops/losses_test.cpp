// The loss operations against the reference program and central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/ops/decorrelation.h"
#include "tocca/ops/l2_distance.h"
#include "tocca/ops/nadam.h"
#include "tocca/ops/softmax.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using tocca::testing::Golden;
using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::random_matrix;

TEST(SoftDecorrelation, ThreeBatchesAgreeWithTheReference) {
  const Golden golden("soft_decorrelation");
  Matrix<double> cross = Matrix<double>::Zero(4, 4);
  Matrix<double> normaliser = Matrix<double>::Zero(1, 1);
  DecorrelationScratch<double> scratch;
  for (const Golden& step : golden.list("steps")) {
    const Matrix<double> a = step.matrix("A");
    Matrix<double> d = Matrix<double>::Zero(a.rows(), a.cols());
    const double loss = soft_decorrelation<double>(a, golden.number("alpha"), 1, cross, normaliser, scratch, d);
    EXPECT_NEAR(loss, step.number("loss"), 1e-12 * loss);
    EXPECT_LT(max_error(d, step.matrix("dA")), 1e-12);
  }
}

TEST(SoftDecorrelation, GradientAgreesWithCentralDifferences) {
  for (const Index m : {2, 5, 40}) {
    Rng rng(static_cast<std::uint64_t>(m));
    const Matrix<double> a = random_matrix(rng, m, 5);
    const Matrix<double> before = random_matrix(rng, 5, 5).selfadjointView<Eigen::Lower>();
    DecorrelationScratch<double> scratch;
    const auto loss = [&](const Matrix<double>& x) {
      Matrix<double> cross = before;
      Matrix<double> normaliser = Matrix<double>::Constant(1, 1, 2.5);
      Matrix<double> unused = Matrix<double>::Zero(m, 5);
      return 0.3 * soft_decorrelation<double>(x, 0.9, 0.3, cross, normaliser, scratch, unused);
    };
    Matrix<double> cross = before;
    Matrix<double> normaliser = Matrix<double>::Constant(1, 1, 2.5);
    Matrix<double> d = Matrix<double>::Zero(m, 5);
    soft_decorrelation<double>(a, 0.9, 0.3, cross, normaliser, scratch, d);
    EXPECT_LT(max_gradient_error(loss, a, d), 1e-7);
  }
}

// The distance and its gradient with respect to every view, put together from the views' parts.
struct Distance {
  double loss = 0;
  std::vector<Matrix<double>> gradients;
};
Distance distance(std::vector<Matrix<double>> z, const BatchRows& rows, double weight) {
  std::vector<MatrixMap<double>> maps;
  for (auto& m : z) maps.emplace_back(m.data(), m.rows(), m.cols());
  Distance result;
  for (std::size_t v = 0; v < z.size(); ++v) {
    result.gradients.emplace_back(Matrix<double>::Zero(z[v].rows(), z[v].cols()));
    result.loss += l2_distance<double>(maps, rows, v, count_pairs(rows), weight, result.gradients.back());
  }
  return result;
}

TEST(L2Distance, AgreesWithTheReference) {
  const Golden golden("l2_distance");
  const std::vector<Matrix<double>> z{golden.matrix("A1"), golden.matrix("A2")};
  BatchRows rows(2);
  for (auto& r : rows) {
    for (Index i = 0; i < z[0].rows(); ++i) r.push_back(i);
  }
  const Distance result = distance(z, rows, 1);
  EXPECT_NEAR(result.loss, golden.number("loss"), 1e-12 * result.loss);
  EXPECT_LT(max_error(result.gradients[0], golden.matrix("dA1")), 1e-12);
  EXPECT_LT(max_error(result.gradients[1], golden.matrix("dA2")), 1e-12);
}

TEST(L2Distance, GradientAgreesWithCentralDifferencesForThreeViewsWithGaps) {
  const BatchRows rows{{0, 1, -1, 2, 3}, {0, -1, 1, 2, -1}, {-1, 0, -1, 1, 2}};
  EXPECT_EQ(count_pairs(rows), 1 + 1 + 0 + 3 + 1);
  Rng rng(2);
  const std::vector<Matrix<double>> z{random_matrix(rng, 4, 3), random_matrix(rng, 3, 3), random_matrix(rng, 3, 3)};
  const Distance at = distance(z, rows, 0.7);
  for (std::size_t v = 0; v < 3; ++v) {
    const auto loss = [&](const Matrix<double>& x) {
      auto moved = z;
      moved[v] = x;
      return 0.7 * distance(moved, rows, 0.7).loss;
    };
    EXPECT_LT(max_gradient_error(loss, z[v], at.gradients[v]), 1e-7);
  }
}

TEST(L2Distance, NoPairGivesNothing) {
  const BatchRows rows{{0, 1, -1}, {-1, -1, 0}};
  const Distance result = distance({Matrix<double>::Ones(2, 3), Matrix<double>::Zero(1, 3)}, rows, 1);
  EXPECT_EQ(result.loss, 0);
  EXPECT_TRUE(result.gradients[0].isZero(0));
}

TEST(SoftmaxCrossEntropy, AgreesWithTheReference) {
  const Golden golden("cross_entropy_missing");
  Matrix<double> logits = golden.matrix("logits");
  const double loss = softmax_cross_entropy<double>(golden.integers("labels"), logits);
  EXPECT_NEAR(loss, golden.number("loss"), 1e-13);
  EXPECT_LT(max_error(logits, golden.matrix("dlogits")), 1e-14);
}

TEST(SoftmaxCrossEntropy, GradientAgreesWithCentralDifferences) {
  Rng rng(4);
  const std::vector<int> labels{2, -1, 0, 1};
  const Matrix<double> logits = random_matrix(rng, 4, 3);
  const auto loss = [&](Matrix<double> x) { return softmax_cross_entropy<double>(labels, x); };
  Matrix<double> gradient = logits;
  softmax_cross_entropy<double>(labels, gradient);
  EXPECT_LT(max_gradient_error(loss, logits, gradient), 1e-8);
}

TEST(SoftmaxCrossEntropy, NoLabelGivesNothingAndHugeLogitsStayFinite) {
  Matrix<double> logits = Matrix<double>::Constant(3, 2, 5.0);
  EXPECT_EQ(softmax_cross_entropy<double>(std::vector<int>{-1, -1, -1}, logits), 0);
  EXPECT_TRUE(logits.isZero(0));
  Matrix<float> huge(1, 2);
  huge << 1e30F, -1e30F;
  EXPECT_TRUE(std::isfinite(softmax_cross_entropy<float>(std::vector<int>{0}, huge)));
  EXPECT_TRUE(huge.allFinite());
}

// −log softmax, weighted and smoothed as the header has it, written out.
double smoothed_by_hand(const std::vector<int>& labels, const SoftmaxOptions& options, Matrix<double> logits) {
  log_softmax<double>(logits);
  double loss = 0, total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    RowVector<double> q =
        RowVector<double>::Constant(logits.cols(), options.label_smoothing / static_cast<double>(logits.cols()));
    q(labels[i]) += 1 - options.label_smoothing;
    loss -= options.class_weights(labels[i]) * q.dot(logits.row(static_cast<Index>(i)));
    total += options.class_weights(labels[i]);
  }
  return loss / total;
}

TEST(SoftmaxCrossEntropy, WeightedAndSmoothed) {
  const std::vector<int> labels{2, -1, 0, 1, 1};
  for (const double smoothing : {0.0, 0.1, 0.7}) {
    SoftmaxOptions options{RowVector<double>(3), smoothing};
    options.class_weights << 0.5, 3, 1.2;
    Rng rng(5);
    const Matrix<double> logits = 3 * random_matrix(rng, 5, 3);
    const auto loss = [&](Matrix<double> x) { return softmax_cross_entropy<double>(labels, options, x); };
    EXPECT_NEAR(loss(logits), smoothed_by_hand(labels, options, logits), 1e-13);
    Matrix<double> gradient = logits;
    softmax_cross_entropy<double>(labels, options, gradient);
    EXPECT_TRUE(gradient.row(1).isZero(0));
    EXPECT_LT(max_gradient_error(loss, logits, gradient), 1e-8);
  }
}

TEST(SoftmaxCrossEntropy, ClassesOfWeightZeroGiveNothing) {
  SoftmaxOptions options{RowVector<double>::Zero(2), 0.1};
  Matrix<double> logits = Matrix<double>::Ones(2, 2);
  EXPECT_EQ(softmax_cross_entropy<double>(std::vector<int>{0, 1}, options, logits), 0);
  EXPECT_TRUE(logits.isZero(0));
}

TEST(SoftmaxCrossEntropy, OptionsAreChecked) {
  Matrix<double> logits = Matrix<double>::Ones(1, 3);
  const std::vector<int> labels{0};
  for (const SoftmaxOptions& options :
       {SoftmaxOptions{RowVector<double>::Ones(2), 0}, SoftmaxOptions{-RowVector<double>::Ones(3), 0},
        SoftmaxOptions{RowVector<double>::Constant(3, NAN), 0}, SoftmaxOptions{{}, 1}, SoftmaxOptions{{}, -0.1}}) {
    EXPECT_THROW(softmax_cross_entropy<double>(labels, options, logits), InputError);
  }
}

TEST(LogSoftmax, RowsAreDistributions) {
  Rng rng(6);
  Matrix<double> logits = 50 * random_matrix(rng, 6, 4);
  log_softmax<double>(logits);
  EXPECT_LT((logits.array().exp().rowwise().sum() - 1).abs().maxCoeff(), 1e-13);
}

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
    OuterScratch<S> scratch;
    nadam_update(step, NadamArrays<S>{p.data(), m.data(), v.data()},
                 OuterProduct<S>{{x.data(), size(rows)},
                                 {dy.data(), size(columns)},
                                 size(samples),
                                 size(rows),
                                 size(columns),
                                 {dx.data(), size(rows + 3)}},
                 scratch);
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
      OuterScratch<S> scratch;
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
                   scratch);
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

TYPED_TEST(NadamOuterProduct, OfNoColumnsIsAnInputGradientOfZeros) {
  using S = TypeParam;
  Matrix<S> dx = Matrix<S>::Constant(4, 3, 7), x = dx;
  OuterScratch<S> scratch;
  nadam_update(NadamStep{}, NadamArrays<S>{nullptr, nullptr, nullptr},
               OuterProduct<S>{{x.data(), 3}, {nullptr, 0}, 4, 3, 0, {dx.data(), 3}}, scratch);
  EXPECT_TRUE(dx.isZero(0));
}

TYPED_TEST(NadamOuterProduct, OfNoSamplesIsAGradientOfZeros) {
  using S = TypeParam;
  NadamSchedule schedule;
  const NadamStep step{{}, schedule.next({}), 0.01};
  const std::vector<S> zeros(6, 0);
  std::vector<S> p(6, 1), m(6, 1), v(6, 1), p2 = p, m2 = m, v2 = v;
  OuterScratch<S> scratch;
  nadam_update(step, NadamArrays<S>{p.data(), m.data(), v.data()}, OuterProduct<S>{{nullptr, 2}, {nullptr, 3}, 0, 2, 3},
               scratch);
  nadam_update(step, NadamArrays<S>{p2.data(), m2.data(), v2.data()}, std::span<const S>(zeros));
  EXPECT_EQ(p, p2);
  EXPECT_EQ(m, m2);
  EXPECT_EQ(v, v2);
}

}  // namespace
}  // namespace tocca
