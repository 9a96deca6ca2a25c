#include "tocca/ops/whitening.h"

#include <gtest/gtest.h>

#include "tocca/testing/golden.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using tocca::testing::Golden;
using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::random_matrix;

// Statistics with storage of their own.
struct Statistics {
  explicit Statistics(Index d)
      : mean(Matrix<double>::Zero(1, d)), covariance(Matrix<double>::Zero(d, d)), centre(mean), transform(covariance) {}
  WhiteningStatistics maps() {
    const auto map = [](Matrix<double>& m) { return MatrixMap<double>(m.data(), m.rows(), m.cols()); };
    return {map(mean), map(covariance), map(centre), map(transform)};
  }
  Matrix<double> mean, covariance, centre, transform;
};

Matrix<double> forward(const Matrix<double>& a, const WhiteningOptions& options, double k, Statistics statistics) {
  WhiteningCache cache;
  Workspace work;
  Matrix<double> b(a.rows(), a.cols());
  auto maps = statistics.maps();
  whitening_forward<double>(a, options, k, maps, cache, b, work);
  return b;
}

TEST(Whitening, ThreeBatchesAndInferenceAgreeWithTheReference) {
  const Golden golden("zca");
  const WhiteningOptions options{.momentum = golden.number("alpha"), .epsilon = golden.number("eps")};
  Statistics statistics(4);
  double k = 0;
  for (const Golden& step : golden.list("steps")) {
    const Matrix<double> a = step.matrix("A");
    Matrix<double> b(a.rows(), a.cols());
    Matrix<double> d = step.matrix("dB");
    WhiteningCache cache;
    Workspace work;
    auto maps = statistics.maps();
    whitening_forward<double>(a, options, ++k, maps, cache, b, work);
    EXPECT_LT(max_error(b, step.matrix("B")), 1e-11);
    whitening_backward<double>(cache, d, work);
    EXPECT_LT(max_error(d, step.matrix("dA")), 1e-10);
  }
  EXPECT_LT(max_error(statistics.centre, golden.vector("running_mean").transpose()), 1e-12);
  EXPECT_LT(max_error(statistics.covariance / (1 - std::pow(options.momentum, k)), golden.matrix("running_cov")),
            1e-12);
  const Matrix<double> a = golden.matrix("infer_A");
  Matrix<double> b(a.rows(), a.cols());
  Workspace work;
  whitening_infer<double>(a, statistics.centre, statistics.transform, b, work);
  EXPECT_LT(max_error(b, golden.matrix("infer_B")), 1e-11);
}

struct Case {
  Index rows, columns;
  bool running;
  double batch_number;
};

class WhiteningGradient : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, WhiteningGradient,
                         ::testing::Values(Case{7, 3, true, 1}, Case{2, 4, true, 3}, Case{20, 5, true, 50},
                                           Case{9, 1, true, 2}, Case{12, 4, false, 1}, Case{6, 5, false, 4},
                                           Case{9, 5, true, 3}, Case{10, 5, true, 3}));

TEST_P(WhiteningGradient, AgreesWithCentralDifferences) {
  const auto [m, d, running, batch_number] = GetParam();
  const double k = batch_number;  // clang 14 captures no structured binding
  Rng rng(static_cast<std::uint64_t>(m * 10 + d));
  Statistics before(d);
  const Matrix<double> earlier = random_matrix(rng, 2 * d, d);
  before.covariance = earlier.transpose() * earlier / 10;
  before.mean = random_matrix(rng, 1, d);
  const WhiteningOptions options{.momentum = 0.8, .epsilon = 1e-2, .running = running};
  const Matrix<double> a = random_matrix(rng, m, d);
  const Matrix<double> w = random_matrix(rng, m, d);
  Matrix<double> gradient = w;
  WhiteningCache cache;
  Workspace work;
  Matrix<double> b(m, d);
  Statistics statistics = before;
  auto maps = statistics.maps();
  whitening_forward<double>(a, options, k, maps, cache, b, work);
  whitening_backward<double>(cache, gradient, work);
  const auto loss = [&](const Matrix<double>& x) { return forward(x, options, k, before).cwiseProduct(w).sum(); };
  EXPECT_LT(max_gradient_error(loss, a, gradient), 1e-7);
}

// Columns of an orthogonal design scaled alike give a covariance with one eigenvalue, repeated; a constant batch gives
// the eigenvalue 0. The textbook gradient 1/(λᵢ − λⱼ) is NaN there.
TEST(Whitening, GradientIsRightForRepeatedAndZeroEigenvalues) {
  Matrix<double> design(4, 3);
  design << 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1;
  const WhiteningOptions options{.epsilon = 1e-2, .running = false};
  Rng rng(3);
  // Four rows, and eight: they go back in different ways.
  for (const Matrix<double>& a :
       {design, Matrix<double>(Matrix<double>::Constant(4, 3, 2.0)), Matrix<double>(design.replicate(2, 1))}) {
    const Matrix<double> w = random_matrix(rng, a.rows(), 3);
    Statistics statistics(3);
    auto maps = statistics.maps();
    WhiteningCache cache;
    Workspace work;
    Matrix<double> b(a.rows(), 3);
    Matrix<double> gradient = w;
    whitening_forward<double>(a, options, 1, maps, cache, b, work);
    EXPECT_NEAR(cache.eigen.values(0), cache.eigen.values(2), 1e-12);
    whitening_backward<double>(cache, gradient, work);
    const auto loss = [&](const Matrix<double>& x) {
      return forward(x, options, 1, Statistics(3)).cwiseProduct(w).sum();
    };
    EXPECT_LT(max_gradient_error(loss, a, gradient, 1e-5), 1e-6);
  }
}

TEST(Whitening, BatchCovarianceGivesIdentityCovariance) {
  Rng rng(8);
  const Matrix<double> a = random_matrix(rng, 200, 6) * random_matrix(rng, 6, 6);
  const Matrix<double> b = forward(a, {.epsilon = 1e-10, .running = false}, 1, Statistics(6));
  EXPECT_LT(max_error(b.transpose() * b / 199, Matrix<double>::Identity(6, 6)), 1e-6);
  EXPECT_LT(b.colwise().mean().cwiseAbs().maxCoeff(), 1e-12);
}

}  // namespace
}  // namespace tocca
