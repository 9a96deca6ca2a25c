// The operations on the canonical correlations of two views, against the reference program and central differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/linalg/cca.h"
#include "tocca/ops/cca_layer.h"
#include "tocca/ops/trace_norm.h"
#include "tocca/ops/whitening.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/gradient_check.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::Golden;
using tocca::testing::max_error;
using tocca::testing::max_gradient_error;
using tocca::testing::random_matrix;

// Statistics with storage of their own; `earlier` (n × (d₁ + d₂)) is what previous batches left.
struct Statistics {
  Statistics(Index d1, Index d2, const Matrix<double>& earlier)
      : mean1(earlier.colwise().mean().leftCols(d1)), mean2(earlier.colwise().mean().rightCols(d2)) {
    const Matrix<double> s = earlier.transpose() * earlier / 10;
    s11 = s.topLeftCorner(d1, d1);
    s22 = s.bottomRightCorner(d2, d2);
    s12 = s.topRightCorner(d1, d2);
  }
  Statistics(Index d1, Index d2) : Statistics(d1, d2, Matrix<double>::Zero(1, d1 + d2)) {}
  ViewPairStatistics maps() {
    const auto map = [](Matrix<double>& m) { return MatrixMap<double>(m.data(), m.rows(), m.cols()); };
    return {map(mean1), map(mean2), map(s11), map(s22), map(s12)};
  }
  Matrix<double> mean1, mean2, s11, s22, s12;
};

struct Result {
  double loss;
  Matrix<double> d1, d2;
};
Result evaluate(const Matrix<double>& h1, const Matrix<double>& h2, const ViewPairOptions& options, double k,
                Statistics statistics, double weight = 1) {
  Result result{0, Matrix<double>::Zero(h1.rows(), h1.cols()), Matrix<double>::Zero(h2.rows(), h2.cols())};
  auto maps = statistics.maps();
  TraceNormScratch scratch;
  result.loss = trace_norm<double>(h1, h2, options, k, weight, maps, result.d1, result.d2, scratch);
  return result;
}

void check_gradient(const Matrix<double>& h1, const Matrix<double>& h2, const ViewPairOptions& options, double k,
                    const Statistics& statistics) {
  const Result at = evaluate(h1, h2, options, k, statistics);
  const auto loss1 = [&](const Matrix<double>& x) { return evaluate(x, h2, options, k, statistics).loss; };
  const auto loss2 = [&](const Matrix<double>& x) { return evaluate(h1, x, options, k, statistics).loss; };
  EXPECT_LT(max_gradient_error(loss1, h1, at.d1), 1e-7);
  EXPECT_LT(max_gradient_error(loss2, h2, at.d2), 1e-7);
}

TEST(TraceNorm, AgreesWithTheReference) {
  const Golden golden("trace_norm");
  const Result at =
      evaluate(golden.matrix("H1"), golden.matrix("H2"), {.ridge = golden.number("r"), .running = false}, 1, {4, 4});
  EXPECT_NEAR(at.loss, golden.number("loss"), 1e-12);
  EXPECT_LT(max_error(at.d1, golden.matrix("dH1")), 1e-12);
  EXPECT_LT(max_error(at.d2, golden.matrix("dH2")), 1e-12);
}

struct Case {
  Index rows, columns1, columns2;
  bool running;
  double batch_number;
};
class TraceNormGradient : public ::testing::TestWithParam<Case> {};
// Batches smaller than the views too: with running covariances, and with the batch's own.
INSTANTIATE_TEST_SUITE_P(Shapes, TraceNormGradient,
                         ::testing::Values(Case{20, 4, 4, false, 1}, Case{20, 3, 5, false, 1}, Case{9, 5, 1, false, 1},
                                           Case{4, 5, 6, false, 1}, Case{20, 4, 3, true, 1}, Case{12, 3, 5, true, 7},
                                           Case{2, 4, 3, true, 3}, Case{3, 5, 5, true, 40}));

TEST_P(TraceNormGradient, AgreesWithCentralDifferences) {
  const auto [m, d1, d2, running, k] = GetParam();
  Rng rng(static_cast<std::uint64_t>(100 * m + 10 * d1 + d2));
  const Statistics before(d1, d2, random_matrix(rng, 2 * (d1 + d2), d1 + d2));
  const Matrix<double> h1 = random_matrix(rng, m, d1), h2 = random_matrix(rng, m, d2);
  check_gradient(h1, h2, {.ridge = 0.1, .momentum = 0.8, .running = running}, k, before);
}

// Columns orthogonal and of equal variance, the second view the first plus as much of what is orthogonal to it: all
// eigenvalues of a view's covariance are equal, and so are all correlations.
std::pair<Matrix<double>, Matrix<double>> tied_views() {
  Matrix<double> h1(8, 3), h2(8, 3);
  for (Index i = 0; i < 8; ++i) {
    const auto bit = [i](Index b) { return (i >> b & 1) == 1 ? 1.0 : -1.0; };
    h1.row(i) << bit(0), bit(1), bit(2);
    h2.row(i) << bit(0) + bit(1) * bit(2), bit(1) + bit(0) * bit(2), bit(2) + bit(0) * bit(1);
  }
  return {h1, h2};
}

TEST(TraceNorm, GradientIsRightWithEqualEigenvaluesAndSingularValues) {
  const auto [h1, h2] = tied_views();
  const ViewPairOptions options{.ridge = 1e-2, .running = false};
  EXPECT_NEAR(evaluate(h1, h2, options, 1, {3, 3}).loss, -3 * std::sqrt(0.5), 0.05);
  check_gradient(h1, h2, options, 1, {3, 3});
}

TEST(TraceNorm, ConstantAndRepeatedColumnsGiveFiniteGradients) {
  Rng rng(3);
  Matrix<double> h1 = random_matrix(rng, 10, 4), h2 = random_matrix(rng, 10, 3);
  h1.col(1).setZero();
  h2.col(2) = h2.col(0);
  const Result at = evaluate(h1, h2, {.running = false}, 1, {4, 3});
  EXPECT_TRUE(at.d1.allFinite());
  EXPECT_TRUE(at.d2.allFinite());
  EXPECT_LT(at.d1.cwiseAbs().maxCoeff(), 10);
  const Result dead = evaluate(Matrix<double>::Constant(10, 4, 3), h2, {.running = false}, 1, {4, 3});
  EXPECT_EQ(dead.loss, 0);
  EXPECT_TRUE(dead.d1.isZero(0));
  EXPECT_TRUE(dead.d2.isZero(0));
}

// Several batches with the same rows: the corrected running statistics are those of the batch.
TEST(TraceNorm, RunningStatisticsStartWithoutBias) {
  Rng rng(4);
  const Matrix<double> h1 = random_matrix(rng, 12, 3), h2 = random_matrix(rng, 12, 4);
  const Result batch = evaluate(h1, h2, {.running = false}, 1, {3, 4});
  Statistics statistics(3, 4);
  auto maps = statistics.maps();
  TraceNormScratch scratch;
  for (int k = 1; k <= 3; ++k) {
    Matrix<double> d1 = Matrix<double>::Zero(12, 3), d2 = Matrix<double>::Zero(12, 4);
    EXPECT_NEAR(trace_norm<double>(h1, h2, {.momentum = 0.9}, k, 1, maps, d1, d2, scratch), batch.loss, 1e-12);
    const double share = 0.1 / (1 - std::pow(0.9, k));
    EXPECT_LT(max_error(d1, share * batch.d1), 1e-12);
  }
}

TEST(TraceNorm, AddsTheWeightedGradientInFloatToo) {
  Rng rng(5);
  const Matrix<double> h1 = random_matrix(rng, 12, 3), h2 = random_matrix(rng, 12, 2);
  const Result at = evaluate(h1, h2, {.ridge = 0.1, .running = false}, 1, {3, 2});
  Statistics statistics(3, 2);
  auto maps = statistics.maps();
  TraceNormScratch scratch;
  Matrix<float> d1 = Matrix<float>::Ones(12, 3), d2 = Matrix<float>::Ones(12, 2);
  const double loss = trace_norm<float>(h1.cast<float>(), h2.cast<float>(), {.ridge = 0.1, .running = false}, 1, 0.5,
                                        maps, d1, d2, scratch);
  EXPECT_NEAR(loss, at.loss, 1e-5);
  EXPECT_LT(max_error(d1.cast<double>(), (1 + 0.5 * at.d1.array()).matrix()), 1e-5);
  EXPECT_LT(max_error(d2.cast<double>(), (1 + 0.5 * at.d2.array()).matrix()), 1e-5);
}

// One batch through the layer; the statistics are copied.
struct Layer {
  Layer(const Matrix<double>& h1, const Matrix<double>& h2, Index components, const ViewPairOptions& options, double k,
        Statistics pair, CcaBasis basis = CcaBasis::canonical)
      : centre1(1, h1.cols()),
        centre2(1, h2.cols()),
        weights1(h1.cols(), components),
        weights2(h2.cols(), components),
        b1(h1.rows(), components),
        b2(h2.rows(), components) {
    const auto map = [](Matrix<double>& m) { return MatrixMap<double>(m.data(), m.rows(), m.cols()); };
    CcaLayerStatistics statistics{pair.maps(), map(centre1), map(centre2), map(weights1), map(weights2)};
    cca_layer_forward<double>(h1, h2, options, basis, k, statistics, cache, b1, b2);
  }
  CcaLayerCache cache;
  Matrix<double> centre1, centre2, weights1, weights2, b1, b2;
};

// A loss of both projections and its gradients with respect to them.
struct ProjectionLoss {
  double value;
  Matrix<double> d1, d2;
};

// Minus the mean cosine of a sample's two projections: blind to signs.
ProjectionLoss minus_cosine(const Matrix<double>& b1, const Matrix<double>& b2) {
  const auto m = static_cast<double>(b1.rows());
  ProjectionLoss loss{0, b1, b2};
  for (Index i = 0; i < b1.rows(); ++i) {
    const double n1 = b1.row(i).norm(), n2 = b2.row(i).norm();
    const RowVector<double> u1 = b1.row(i) / n1, u2 = b2.row(i) / n2;
    loss.value -= u1.dot(u2) / m;
    loss.d1.row(i) = -(u2 - u1 * u1.dot(u2)) / n1 / m;
    loss.d2.row(i) = -(u1 - u2 * u1.dot(u2)) / n2 / m;
  }
  return loss;
}

void check_layer_gradient(const std::function<ProjectionLoss(const Matrix<double>&, const Matrix<double>&)>& loss,
                          const Matrix<double>& h1, const Matrix<double>& h2, Index components,
                          const ViewPairOptions& options, double k, const Statistics& statistics,
                          CcaBasis basis = CcaBasis::canonical) {
  const auto value = [&](const Matrix<double>& x1, const Matrix<double>& x2) {
    Layer layer(x1, x2, components, options, k, statistics, basis);
    return loss(layer.b1, layer.b2).value;
  };
  Layer layer(h1, h2, components, options, k, statistics, basis);
  const ProjectionLoss at = loss(layer.b1, layer.b2);
  Matrix<double> d1(h1.rows(), h1.cols()), d2(h2.rows(), h2.cols());
  cca_layer_backward<double>(layer.cache, at.d1, at.d2, d1, d2);
  EXPECT_GT(d1.cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT(max_gradient_error([&](const Matrix<double>& x) { return value(x, h2); }, h1, d1), 1e-7);
  EXPECT_LT(max_gradient_error([&](const Matrix<double>& x) { return value(h1, x); }, h2, d2), 1e-7);
}

TEST(CcaLayer, AgreesWithTheReference) {
  const Golden golden("cca_layer");
  const Matrix<double> h1 = golden.matrix("H1"), h2 = golden.matrix("H2");
  Layer layer(h1, h2, 3, {.ridge = golden.number("r"), .running = false}, 1, {4, 3});
  EXPECT_LT(max_error(layer.cache.svd.values, golden.vector("correlations")), 1e-12);
  EXPECT_LT(max_error(layer.b1.cwiseAbs(), golden.matrix("abs_B1")), 1e-12);
  EXPECT_LT(max_error(layer.b2.cwiseAbs(), golden.matrix("abs_B2")), 1e-12);
  const ProjectionLoss at = minus_cosine(layer.b1, layer.b2);
  EXPECT_NEAR(at.value, golden.number("loss"), 1e-12);
  Matrix<double> d1(30, 4), d2(30, 3);
  cca_layer_backward<double>(layer.cache, at.d1, at.d2, d1, d2);
  EXPECT_LT(max_error(d1, golden.matrix("dH1")), 1e-11);
  EXPECT_LT(max_error(d2, golden.matrix("dH2")), 1e-11);
}

TEST(CcaLayer, SignsAreThoseOfLinearCca) {
  Rng rng(6);
  const Matrix<double> h1 = random_matrix(rng, 15, 4), h2 = random_matrix(rng, 15, 5);
  Layer layer(h1, h2, 2, {.ridge = 0.1, .running = false}, 1, {4, 5});
  const CcaSolution linear = cca(h1, h2, {.components = 2, .ridge = 0.1});
  EXPECT_LT(max_error(layer.weights1, linear.weights1), 1e-12);
  EXPECT_LT(max_error(layer.weights2, linear.weights2), 1e-12);
}

TEST(CcaLayer, InferenceRepeatsTheTrainingBatch) {
  Rng rng(7);
  const Matrix<double> h1 = random_matrix(rng, 9, 4), h2 = random_matrix(rng, 9, 3);
  Layer layer(h1, h2, 2, {}, 5, {4, 3, random_matrix(rng, 20, 7)});
  Matrix<double> b(9, 2);
  Workspace work;
  whitening_infer<double>(h1, layer.centre1, layer.weights1, b, work);
  EXPECT_LT(max_error(b, layer.b1), 1e-13);
  whitening_infer<double>(h2, layer.centre2, layer.weights2, b, work);
  EXPECT_LT(max_error(b, layer.b2), 1e-13);
}

class CcaLayerGradient : public ::testing::TestWithParam<Case> {};
// The batch's own statistics need more samples than columns to keep the correlations apart; running ones do not.
INSTANTIATE_TEST_SUITE_P(Shapes, CcaLayerGradient,
                         ::testing::Values(Case{20, 4, 4, false, 1}, Case{20, 3, 5, false, 1}, Case{9, 5, 1, false, 1},
                                           Case{20, 4, 3, true, 1}, Case{12, 3, 5, true, 7}, Case{2, 4, 3, true, 3},
                                           Case{3, 5, 5, true, 40}));

// A loss that feels everything.
std::function<ProjectionLoss(const Matrix<double>&, const Matrix<double>&)> weighted(const Matrix<double>& w1,
                                                                                     const Matrix<double>& w2) {
  return [=](const Matrix<double>& b1, const Matrix<double>& b2) {
    return ProjectionLoss{w1.cwiseProduct(b1).sum() + w2.cwiseProduct(b2).sum(), w1, w2};
  };
}
// One that does not change when both projections are turned together.
std::function<ProjectionLoss(const Matrix<double>&, const Matrix<double>&)> inner_products(const Vector<double>& w) {
  return [=](const Matrix<double>& b1, const Matrix<double>& b2) {
    return ProjectionLoss{w.dot(b1.cwiseProduct(b2).rowwise().sum()), w.asDiagonal() * b2, w.asDiagonal() * b1};
  };
}

// With all components and with fewer.
TEST_P(CcaLayerGradient, AgreesWithCentralDifferences) {
  const auto [m, d1, d2, running, k] = GetParam();
  Rng rng(static_cast<std::uint64_t>(100 * m + 10 * d1 + d2));
  const Statistics before(d1, d2, random_matrix(rng, 2 * (d1 + d2), d1 + d2));
  const Matrix<double> h1 = random_matrix(rng, m, d1), h2 = random_matrix(rng, m, d2);
  const ViewPairOptions options{.ridge = 0.1, .momentum = 0.8, .running = running};
  for (Index components = std::min(d1, d2); components > 0; components = components / 2) {
    const Matrix<double> w1 = random_matrix(rng, m, components), w2 = random_matrix(rng, m, components);
    check_layer_gradient(weighted(w1, w2), h1, h2, components, options, k, before);
    if (components != d1 || components != d2) continue;
    check_layer_gradient(weighted(w1, w2), h1, h2, components, options, k, before, CcaBasis::aligned);
  }
}

TEST(CcaLayer, GradientOfAnInvariantLossIsRightWithTiedCorrelations) {
  const auto [h1, h2] = tied_views();
  const ViewPairOptions options{.ridge = 1e-2, .running = false};
  Layer layer(h1, h2, 3, options, 1, {3, 3});
  ASSERT_LT(layer.cache.svd.values(0) - layer.cache.svd.values(2), 1e-12);
  Rng rng(9);
  check_layer_gradient(inner_products(random_matrix(rng, 8, 1)), h1, h2, 3, options, 1, {3, 3});
}

TEST(CcaLayer, AlignedGradientOfAnyLossIsRightWithTiedCorrelations) {
  const auto [h1, h2] = tied_views();
  Rng rng(9);
  const Matrix<double> w1 = random_matrix(rng, 8, 3), w2 = random_matrix(rng, 8, 3);
  check_layer_gradient(weighted(w1, w2), h1, h2, 3, {.ridge = 1e-2, .running = false}, 1, {3, 3}, CcaBasis::aligned);
}

// A batch in either basis, with the same statistics of earlier ones.
struct Bases {
  Layer layer(const Matrix<double>& h1, const Matrix<double>& h2, CcaBasis basis) const {
    return {h1, h2, h1.cols(), {.ridge = 0.1, .momentum = 0.8}, 5, before, basis};
  }
  Rng rng{11};
  Statistics before{4, 4, random_matrix(rng, 20, 8)};
};

TEST(CcaLayer, BasesDifferByOneRotationOfBothViews) {
  Bases bases;
  const Matrix<double> h1 = random_matrix(bases.rng, 7, 4), h2 = random_matrix(bases.rng, 7, 4);
  const Layer canonical = bases.layer(h1, h2, CcaBasis::canonical), aligned = bases.layer(h1, h2, CcaBasis::aligned);
  EXPECT_GT(max_error(canonical.b1, aligned.b1), 0.1);
  EXPECT_LT(max_error(canonical.b1 * canonical.b1.transpose(), aligned.b1 * aligned.b1.transpose()), 1e-12);
  EXPECT_LT(max_error(canonical.b2 * canonical.b2.transpose(), aligned.b2 * aligned.b2.transpose()), 1e-12);
  EXPECT_LT(max_error(canonical.b1 * canonical.b2.transpose(), aligned.b1 * aligned.b2.transpose()), 1e-12);
  // The second view is whitened and not turned; the cross-covariance is symmetric, its trace the sum of correlations.
  EXPECT_LT(max_error(aligned.weights2, aligned.weights2.transpose()), 1e-12);
  const Matrix<double> cross = aligned.weights1.transpose() * aligned.cache.pair.s12 * aligned.weights2;
  EXPECT_LT(max_error(cross, cross.transpose()), 1e-12);
  EXPECT_NEAR(cross.trace(), aligned.cache.svd.values.sum(), 1e-12);
}

TEST(CcaLayer, ALossBlindToRotationsHasTheSameGradientInBothBases) {
  Bases bases;
  const Matrix<double> h1 = random_matrix(bases.rng, 7, 4), h2 = random_matrix(bases.rng, 7, 4);
  const auto loss = inner_products(random_matrix(bases.rng, 7, 1));
  Matrix<double> d[2][2];
  for (const CcaBasis basis : {CcaBasis::canonical, CcaBasis::aligned}) {
    Layer layer = bases.layer(h1, h2, basis);
    const ProjectionLoss at = loss(layer.b1, layer.b2);
    Matrix<double>(&own)[2] = d[basis == CcaBasis::aligned ? 1 : 0];
    own[0] = own[1] = h1;
    cca_layer_backward<double>(layer.cache, at.d1, at.d2, own[0], own[1]);
  }
  EXPECT_GT(d[0][0].cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT(max_error(d[0][0], d[1][0]), 1e-10);
  EXPECT_LT(max_error(d[0][1], d[1][1]), 1e-10);
}

// What a head that is learnt on the projections needs: canonical directions of tied correlations are turned by the
// least change of a batch.
TEST(CcaLayer, AlignedProjectionsOfTiedCorrelationsHardlyMoveWithTheBatch) {
  const auto [h1, h2] = tied_views();
  Rng rng(12);
  const Matrix<double> moved = h1 + 1e-6 * random_matrix(rng, 8, 3);
  const auto change = [&, &h1 = h1, &h2 = h2](CcaBasis basis) {
    const ViewPairOptions options{.ridge = 1e-2, .running = false};
    return max_error(Layer(h1, h2, 3, options, 1, {3, 3}, basis).b1, Layer(moved, h2, 3, options, 1, {3, 3}, basis).b1);
  };
  EXPECT_GT(change(CcaBasis::canonical), 0.1);
  EXPECT_LT(change(CcaBasis::aligned), 1e-4);
}

TEST(CcaLayer, AlignedNeedsAllComponentsOfViewsOfOneWidth) {
  Rng rng(13);
  const auto layer = [&](Index d1, Index d2, Index k) {
    Layer(random_matrix(rng, 12, d1), random_matrix(rng, 12, d2), k, {}, 1, {d1, d2}, CcaBasis::aligned);
  };
  EXPECT_NO_THROW(layer(3, 3, 3));
  const auto why = [&](Index d1, Index d2, Index k) { return error_message<InputError>([&] { layer(d1, d2, k); }); };
  EXPECT_THAT(why(3, 3, 2), HasSubstr("aligned basis: got 3 and 3 columns and 2 components"));
  EXPECT_THAT(why(4, 3, 3), HasSubstr("got 4 and 3 columns"));
  EXPECT_THAT(why(3, 4, 3), HasSubstr("got 3 and 4 columns"));
}

TEST(CcaLayer, GradientStaysFiniteWithTiesSmallBatchesAndDeadColumns) {
  Rng rng(8);
  const auto [tied1, tied2] = tied_views();
  const Matrix<double> small1 = random_matrix(rng, 3, 6), small2 = random_matrix(rng, 3, 5);
  const Matrix<double> small3 = random_matrix(rng, 3, 6), dead3 = Matrix<double>::Constant(8, 3, 1);
  const Matrix<double> dead1 = Matrix<double>::Constant(8, 4, 2), alive2 = random_matrix(rng, 8, 3);
  for (const auto& [h1, h2] : {std::pair{tied1, tied2},
                               {small1, small2},
                               {dead1, alive2},
                               {alive2, alive2},
                               {small1, small3},
                               {dead3, alive2}}) {
    const Index k = std::min(h1.cols(), h2.cols());
    for (const CcaBasis basis : {CcaBasis::canonical, CcaBasis::aligned}) {
      if (basis == CcaBasis::aligned && h1.cols() != h2.cols()) continue;
      Layer layer(h1, h2, k, {.running = false}, 1, {h1.cols(), h2.cols()}, basis);
      Matrix<double> d1 = h1, d2 = h2;
      cca_layer_backward<double>(layer.cache, random_matrix(rng, h1.rows(), k), random_matrix(rng, h1.rows(), k), d1,
                                 d2);
      EXPECT_TRUE(d1.allFinite());
      EXPECT_TRUE(d2.allFinite());
    }
  }
}

}  // namespace
}  // namespace tocca
