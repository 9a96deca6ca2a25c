#include "tocca/linalg/multiview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/cca.h"
#include "tocca/linalg/covariance.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

using Views = std::vector<Matrix<double>>;

/// Views of one latent signal, with noise.
Views correlated(Index n, const std::vector<Index>& widths) {
  Rng rng(11);
  const Matrix<double> z = random_matrix(rng, n, 3);
  Views views;
  for (const Index d : widths) views.push_back(z * random_matrix(rng, 3, d) + random_matrix(rng, n, d));
  return views;
}

Matrix<double> cross(const Matrix<double>& a, const Matrix<double>& b) {
  return centre(a).rows.transpose() * centre(b).rows / static_cast<double>(a.rows() - 1);
}

Matrix<double> identity(Index k) { return Matrix<double>::Identity(k, k); }

Matrix<double> variates(const Views& views, const MultiviewSolution& s, std::size_t v) {
  return centre(views[v]).rows * s.weights[v];
}

/// The same up to the sign of columns.
double column_error(Matrix<double> a, const Matrix<double>& b) {
  for (Index j = 0; j < a.cols(); ++j)
    if (a.col(j).dot(b.col(j)) < 0) a.col(j) *= -1;
  return max_error(a, b);
}

/// What defines a solution of mcca, ridges included.
void expect_stationary(const MultiviewSolution& s, const Views& views, const std::vector<double>& ridges) {
  const Index k = s.eigenvalues.size();
  Matrix<double> weighted = Matrix<double>::Zero(k, k);
  for (std::size_t v = 0; v < views.size(); ++v) {
    const Index d = views[v].cols();
    const Matrix<double> own = (cross(views[v], views[v]) + ridges[v] * identity(d)) * s.weights[v];
    Matrix<double> pull = own;
    for (std::size_t w = 0; w < views.size(); ++w)
      if (w != v) pull += cross(views[v], views[w]) * s.weights[w];
    EXPECT_LT(max_error(pull, own * s.eigenvalues.asDiagonal()), 1e-9);
    weighted += s.weights[v].transpose() * own;
  }
  EXPECT_LT(max_error(weighted, static_cast<double>(views.size()) * identity(k)), 1e-9);
  for (Index j = 0; j < k; ++j) {
    EXPECT_EQ(s.weights[0].col(j).maxCoeff(), s.weights[0].col(j).cwiseAbs().maxCoeff());
    EXPECT_LE(s.eigenvalues(j), s.eigenvalues(std::max<Index>(j - 1, 0)));
  }
}

TEST(Multiview, GoldenValues) {
  for (const char* name : {"views_tall", "views_wide"}) {
    const testing::Golden golden(name, "linear_reference.json");
    const Views views = golden.matrices("views");
    const MultiviewOptions three{.components = 3, .ridges = golden.get<std::vector<double>>("ridges")};
    MultiviewOptions two = three;
    two.components = 2;
    for (const auto& [method, s] : {std::pair{"mcca", mcca(views, three)}, std::pair{"gcca", gcca(views, three)},
                                    std::pair{"smvcca", smvcca(views, golden.integers("y"), two)}}) {
      const testing::Golden want = golden.group("methods").group(method);
      EXPECT_LT(max_error(s.eigenvalues, want.vector("eigenvalues")), 1e-10) << name << " " << method;
      const Views weights = want.matrices("weights");
      ASSERT_EQ(s.weights.size(), 3);
      for (std::size_t v = 0; v < 3; ++v)
        EXPECT_LT(max_error(s.weights[v], weights[v]), 1e-9) << name << " " << method << " " << v;
    }
  }
}

class MultiviewShapes : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Samples, MultiviewShapes, ::testing::Values(300, 13, 12, 8, 5));

TEST_P(MultiviewShapes, TwoViewsAreThoseOfCca) {
  const Index n = GetParam();
  const Views views = correlated(n, {6, 4});
  for (const double ridge : {0.0, 0.3}) {
    const CcaSolution want = cca(views[0], views[1], {.ridge = ridge});
    const MultiviewSolution s = mcca(views, {.ridges = {ridge}});
    EXPECT_EQ(s.ranks, (std::vector<Index>{want.rank1, want.rank2}));
    ASSERT_EQ(s.eigenvalues.size(), want.correlations.size());
    EXPECT_LT(max_error(s.eigenvalues, want.correlations.array() + 1), 1e-10);
    if (n <= 8 && ridge == 0) continue;  // several correlations are 1, so that their weights are not unique
    EXPECT_LT(max_error(s.weights[0], want.weights1), 1e-9);
    EXPECT_LT(max_error(s.weights[1], want.weights2), 1e-9);
  }
}

TEST_P(MultiviewShapes, TwoViewsOfGccaSpanThoseOfCca) {
  const Index n = GetParam();
  const Views views = correlated(n, {6, 4});
  const CcaSolution want = cca(views[0], views[1]);
  const MultiviewSolution s = gcca(views);
  EXPECT_LT(max_error(s.eigenvalues, want.correlations.array() + 1), 1e-10);
  const Matrix<double> z1 = variates(views, s, 0), z2 = variates(views, s, 1);
  // G = (z₁ + z₂) / ρ has variance 1, and each z_v is its projection.
  const Matrix<double> g = (z1 + z2) * s.eigenvalues.cwiseInverse().asDiagonal();
  const Index k = s.eigenvalues.size();
  EXPECT_LT(max_error(cross(g, g), identity(k)), 1e-9);
  const Vector<double> v1 = cross(z1, z1).diagonal(), v2 = cross(z2, z2).diagonal(), v12 = cross(z1, z2).diagonal();
  EXPECT_LT(max_error(v12.array() / (v1.array() * v2.array()).sqrt(), want.correlations), 1e-9);
}

TEST_P(MultiviewShapes, ThreeViewsAreStationary) {
  const Views views = correlated(GetParam(), {6, 4, 9});
  expect_stationary(mcca(views), views, {0, 0, 0});
  expect_stationary(mcca(views, {.components = 10, .ridges = {0.1, 0.2, 1}}), views, {0.1, 0.2, 1});
}

TEST_P(MultiviewShapes, GccaIsTheBestPredictionOfOrthogonalVariates) {
  const Index n = GetParam();
  const Views views = correlated(n, {6, 4, 9});
  const std::vector<double> ridges{0.1, 0.2, 1};
  const MultiviewSolution s = gcca(views, {.ridges = ridges});
  Matrix<double> g = Matrix<double>::Zero(n, 4);
  for (std::size_t v = 0; v < 3; ++v) g += variates(views, s, v);
  g *= s.eigenvalues.cwiseInverse().asDiagonal();
  EXPECT_LT(max_error(cross(g, g), identity(4)), 1e-9);
  for (std::size_t v = 0; v < 3; ++v) {
    const Matrix<double> covariance = cross(views[v], views[v]) + ridges[v] * identity(views[v].cols());
    EXPECT_LT(max_error(covariance * s.weights[v], cross(views[v], g)), 1e-9);
  }
}

TEST_P(MultiviewShapes, PermutedViewsHavePermutedWeights) {
  const Views views = correlated(GetParam(), {6, 4, 9}), turned{views[2], views[0], views[1]};
  for (const auto& method : {mcca, gcca}) {
    const MultiviewOptions options{.components = 3, .ridges = {0.2}};
    const MultiviewSolution s = method(views, options), other = method(turned, options);
    EXPECT_LT(max_error(other.eigenvalues, s.eigenvalues), 1e-10);
    EXPECT_EQ(other.ranks, (std::vector<Index>{s.ranks[2], s.ranks[0], s.ranks[1]}));
    EXPECT_LT(column_error(other.weights[0], s.weights[2]), 1e-9);
    EXPECT_LT(column_error(other.weights[1], s.weights[0]), 1e-9);
    EXPECT_LT(column_error(other.weights[2], s.weights[1]), 1e-9);
  }
}

TEST_P(MultiviewShapes, RotatedColumnsLeaveTheVariates) {
  const Views views = correlated(GetParam(), {6, 4, 9});
  Views turned = views;
  Matrix<double> rotation = identity(9);
  rotation.topLeftCorner(2, 2) << 0.6, -0.8, 0.8, 0.6;
  rotation.block(4, 4, 2, 2) << 0, 1, 1, 0;
  turned[2] = views[2] * rotation;
  for (const auto& method : {mcca, gcca}) {
    const MultiviewOptions options{.components = 3, .ridges = {0.2}};
    const MultiviewSolution s = method(views, options), other = method(turned, options);
    for (std::size_t v = 0; v < 3; ++v)
      EXPECT_LT(max_error(variates(turned, other, v), variates(views, s, v)), 1e-9) << v;
  }
}

TEST(Multiview, WithoutRidgesBothMethodsSpanTheSame) {
  const Views views = correlated(50, {6, 4, 5});
  const MultiviewSolution a = mcca(views), b = gcca(views);
  EXPECT_LT(max_error(a.eigenvalues, b.eigenvalues), 1e-10);
  for (std::size_t v = 0; v < 3; ++v)
    EXPECT_LT(max_error(a.weights[v] * (b.eigenvalues / 3).cwiseSqrt().asDiagonal(), b.weights[v]), 1e-9);
}

TEST(Multiview, IdenticalViewsAgreeWholly) {
  const Matrix<double> x = correlated(40, {5})[0];
  for (const auto& method : {mcca, gcca}) {
    const MultiviewSolution s = method(Views{x, x, x}, {});
    EXPECT_LT(max_error(s.eigenvalues, Vector<double>::Constant(5, 3)), 1e-12);
    EXPECT_LE(s.eigenvalues.maxCoeff(), 3);
    EXPECT_LT(max_error(s.weights[0], s.weights[2]), 1e-9);
    EXPECT_LT(max_error(cross(x * s.weights[1], x * s.weights[1]), identity(5)), 1e-9);
  }
}

TEST(Multiview, ADuplicatedViewOutweighsTheOthers) {
  const Views views = correlated(60, {5, 4});
  const MultiviewSolution s = mcca(Views{views[0], views[0], views[1]});
  EXPECT_LT(max_error(s.weights[0], s.weights[1]), 1e-9);
  EXPECT_GT(s.eigenvalues(3), 2 - 1e-12);  // the two agree, whatever the third says
}

TEST(Multiview, DropsNullDirections) {
  for (const Index n : {80, 9}) {  // through the covariances, and thinly
    const Views views = correlated(n, {4, 3, 5});
    Views wide = views;
    wide[0].resize(n, 7);
    wide[0] << views[0], views[0].col(2), Vector<double>::Constant(n, 0.1), views[0].col(0) - 3 * views[0].col(1);
    for (const auto& method : {mcca, gcca}) {
      const MultiviewSolution s = method(wide, {}), want = method(views, {});
      EXPECT_EQ(s.ranks, (std::vector<Index>{4, 3, 5}));
      EXPECT_LT(max_error(s.eigenvalues, want.eigenvalues), 1e-9);
      EXPECT_LT(max_error(s.weights[0].row(5), RowVector<double>::Zero(3)), 1e-9);  // the constant column
      EXPECT_LT(column_error(variates(wide, s, 0), variates(views, want, 0)), 1e-9);
    }
  }
}

// Nothing is dropped for being small beside a column in other units.
TEST(Multiview, WithoutRidgesScalesOfTheColumnsChangeNothing) {
  const Views views = correlated(60, {5, 4, 3});
  Views scaled = views;
  scaled[0] *= (RowVector<double>(5) << 1e7, 1, 1e-6, 1, 30).finished().asDiagonal();
  scaled[2] *= (RowVector<double>(3) << 1, 1e6, 1).finished().asDiagonal();
  std::vector<int> codes;
  for (int i = 0; i < 60; ++i) codes.push_back(i % 3);
  const MultiviewOptions plain{.components = 2, .ridges = {0}};
  const auto same = [&](const auto& solve) {
    const MultiviewSolution one = solve(views), other = solve(scaled);
    EXPECT_LT(max_error(one.eigenvalues, other.eigenvalues), 1e-8);
    for (std::size_t v = 0; v < 3; ++v)
      EXPECT_LT(column_error(variates(views, one, v), variates(scaled, other, v)), 1e-6);
  };
  same([&](const Views& x) { return mcca(x, plain); });
  same([&](const Views& x) { return gcca(x, plain); });
  same([&](const Views& x) { return smvcca(x, codes, plain); });
}

TEST(Multiview, AConstantViewLeavesNoComponents) {
  Views views = correlated(20, {4, 3});
  views.push_back(Matrix<double>::Constant(20, 2, 0.1));
  const MultiviewSolution s = mcca(views);
  EXPECT_EQ(s.ranks, (std::vector<Index>{4, 3, 0}));
  EXPECT_EQ(s.eigenvalues.size(), 0);
  EXPECT_EQ(s.weights[1].rows(), 3);
  EXPECT_EQ(s.weights[1].cols(), 0);
  const MultiviewSolution asked = mcca(views, {.components = 2});
  EXPECT_EQ(asked.weights[2], Matrix<double>::Zero(2, 2));
  EXPECT_LT(max_error(asked.eigenvalues, cca(views[0], views[1]).correlations.head(2).array() + 1), 1e-10);
}

TEST(Multiview, KeepsTheComponentsAskedFor) {
  const Views views = correlated(50, {6, 4, 5});
  const MultiviewSolution all = mcca(views), two = mcca(views, {.components = 2}),
                          most = mcca(views, {.components = 99});
  EXPECT_EQ(all.eigenvalues.size(), 4);
  EXPECT_EQ(two.weights[2], all.weights[2].leftCols(2));
  EXPECT_EQ(most.eigenvalues.size(), 15);
  EXPECT_NEAR(most.eigenvalues.sum(), 15, 1e-10);  // the trace
}

TEST(Multiview, ManyMoreColumnsThanSamples) {
  const Views views = correlated(30, {8000, 9000, 5});  // a covariance of 9000 columns would take 650 MB
  const MultiviewSolution s = mcca(views);
  EXPECT_EQ(s.ranks, (std::vector<Index>{29, 29, 5}));
  EXPECT_EQ(s.weights[1].rows(), 9000);
  EXPECT_LT(max_error(s.eigenvalues, Vector<double>::Constant(5, 3)), 1e-9);
}

/// As many rows as labels, with the classes' difference in all views.
Views with_classes(const std::vector<int>& y, double distance) {
  Views views = correlated(static_cast<Index>(y.size()), {5, 4});
  for (std::size_t i = 0; i < y.size(); ++i)
    for (Matrix<double>& view : views) view(static_cast<Index>(i), y[i] + 1) += distance;
  return views;
}

std::vector<int> alternating(int n, int class_count) {
  std::vector<int> y;
  for (int i = 0; i < n; ++i) y.push_back(i % class_count);
  return y;
}

TEST(Smvcca, OneViewIsCcaWithTheClasses) {
  const std::vector<int> y = alternating(45, 3);
  const Matrix<double> x = with_classes(y, 2)[0];
  const Matrix<double> one_hot =
      Matrix<double>::NullaryExpr(45, 3, [&](Index i, Index j) { return i % 3 == j ? 1.0 : 0.0; });
  const MultiviewSolution s = smvcca(Views{x}, y, {.ridges = {0.2}});
  const CcaSolution want = cca(x, one_hot, {.ridge = 0.2, .ridge2 = 0});
  ASSERT_EQ(s.eigenvalues.size(), 2);
  EXPECT_EQ(s.weights.size(), 1);
  EXPECT_EQ(s.ranks, (std::vector<Index>{5}));
  EXPECT_LT(max_error(s.eigenvalues, want.correlations.array() + 1), 1e-10);
  EXPECT_LT(max_error(s.weights[0], want.weights1), 1e-9);
}

TEST(Smvcca, VariatesFollowTheClasses) {
  const std::vector<int> y = alternating(90, 2);
  const Views views = with_classes(y, 3);
  const MultiviewSolution s = smvcca(views, y);
  ASSERT_EQ(s.eigenvalues.size(), 1);
  const Vector<double> sides = Vector<double>::NullaryExpr(90, [](Index i) { return i % 2 == 0 ? 1.0 : -1.0; });
  const auto correlation = [&](const MultiviewSolution& of, std::size_t v) {
    const Vector<double> z = variates(views, of, v).col(0);
    return std::abs(z.dot(sides)) / (z.norm() * sides.norm());
  };
  for (const std::size_t v : {0, 1}) {
    EXPECT_GT(correlation(s, v), 0.7);
    EXPECT_GT(correlation(s, v), correlation(mcca(views), v) + 0.2);
  }
}

TEST(Smvcca, OnlyLabelledSamplesEnter) {
  const std::vector<int> y = alternating(30, 3);
  Views views = with_classes(y, 1);
  const MultiviewSolution want = smvcca(views, y);
  std::vector<int> more = y;
  more.insert(more.begin() + 30, 2, -1);
  for (Matrix<double>& view : views) {
    view.conservativeResize(32, Eigen::NoChange);
    view.bottomRows(2).setConstant(100);
  }
  const MultiviewSolution got = smvcca(views, more);
  EXPECT_EQ(got.weights[1], want.weights[1]);
  for (int& code : more)
    if (code >= 0) code = 9 - code;  // other numbers of the same classes
  EXPECT_LT(column_error(smvcca(views, more).weights[1], want.weights[1]), 1e-9);
}

TEST(Multiview, RefusesBadViews) {
  Views views = correlated(10, {3, 2});
  EXPECT_THAT([&] { mcca(std::span(views).first(1)); },
              ThrowsMessage<InputError>(StrEq("[mcca] number of views: got 1, need at least 2; add views")));
  EXPECT_THAT(
      [&] {
        gcca(Views{views[0], views[1].topRows(9)});
      },
      ThrowsMessage<InputError>(
          StrEq("[gcca] rows of the two views: got 10 and 9, need equal numbers; pair the samples")));
  EXPECT_THAT(
      [&] {
        mcca(Views{views[0].topRows(1), views[1].topRows(1)});
      },
      ThrowsMessage<InputError>(StrEq("[mcca] number of samples: got 1, need at least 2; add samples")));
  EXPECT_THAT(
      [&] {
        mcca(Views{views[0], views[1].leftCols(0)});
      },
      ThrowsMessage<InputError>(StrEq("[mcca] columns of view 2: got 0, need at least 1; pass the data")));
  views[1](7, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { mcca(views); },
              ThrowsMessage<InputError>(StrEq("[mcca] view 2, row 7, column 1 (counted from 0): got nan, need a finite "
                                              "number; impute it or drop the row")));
}

TEST(Multiview, RefusesBadLabels) {
  const Views views = correlated(4, {3, 2});
  const auto with = [&](std::vector<int> y) { return [&views, y] { smvcca(views, y); }; };
  EXPECT_THAT(with({0, 1}), ThrowsMessage<InputError>(StrEq(
                                "[smvcca] number of labels: got 2, need 4, one for each row; use -1 for unlabelled")));
  EXPECT_THAT(with({0, 0, -1, 0}),
              ThrowsMessage<InputError>(
                  StrEq("[smvcca] classes with samples: got 1, need at least 2; add labelled samples of others")));
}

TEST(Multiview, RefusesBadOptions) {
  const Views views = correlated(10, {3, 2});
  const auto with = [&](const MultiviewOptions& options) { return [&views, options] { mcca(views, options); }; };
  EXPECT_THAT(
      with({.components = -2}),
      ThrowsMessage<InputError>(StrEq("[multiview] components: got -2, need 0 (all) or more; set how many to keep")));
  EXPECT_THAT(with({.ridges = {1, -1}}),
              ThrowsMessage<InputError>(StrEq("[multiview] ridges: got -1, need finite numbers >= 0; use 0 for none")));
  EXPECT_THAT(with({.ridges = {1, 1, 1}}),
              ThrowsMessage<InputError>(StrEq("[mcca] ridges: got 3, need 2, one for each view; or one for all")));
  EXPECT_THAT(
      with({.rank_tolerance = 1}),
      ThrowsMessage<InputError>(StrEq("[multiview] rank_tolerance: got 1, need 0 <= rank_tolerance < 1; use 1e-10")));
}

}  // namespace
}  // namespace tocca
