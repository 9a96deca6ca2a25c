// The loss operations against the reference program and central differences.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/ops/decorrelation.h"
#include "tocca/ops/l2_distance.h"
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

}  // namespace
}  // namespace tocca
