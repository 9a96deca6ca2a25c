#include "tocca/linalg/sparse_pls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/covariance.h"
#include "tocca/linalg/svd.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

/// For comparisons with what has been iterated to the end.
constexpr double kTight = 1e-13;
constexpr int kMany = 20000;

struct Data {
  std::vector<Matrix<double>> views;
  std::vector<int> y;
};

Matrix<double> standardised(const Matrix<double>& x) {
  Matrix<double> rows = centre(x).rows;
  for (Index j = 0; j < rows.cols(); ++j)
    rows.col(j) *= std::sqrt(static_cast<double>(rows.rows() - 1)) / rows.col(j).norm();
  return rows;
}

/// Columns that follow the class, and what all views have in common.
Data clouds(Index n, const std::vector<Index>& widths, int class_count, unsigned seed = 12) {
  Rng rng(seed);
  Data data;
  for (Index i = 0; i < n; ++i) data.y.push_back(static_cast<int>(i) % class_count);
  const Matrix<double> common = random_matrix(rng, n, 2);
  for (const Index d : widths) {
    const Matrix<double> centres = random_matrix(rng, class_count, d);
    Matrix<double> x = random_matrix(rng, n, d) + common * random_matrix(rng, 2, d);
    for (Index i = 0; i < n; ++i) x.row(i) += centres.row(i % class_count);
    data.views.push_back(standardised(x));
  }
  return data;
}

/// (n × C), standardised; of classes 0 to C − 1 without unlabelled samples.
Matrix<double> outcome_of(const std::vector<int>& y) {
  Matrix<double> indicators =
      Matrix<double>::Zero(static_cast<Index>(y.size()), *std::max_element(y.begin(), y.end()) + 1);
  for (std::size_t i = 0; i < y.size(); ++i) indicators(static_cast<Index>(i), y[i]) = 1;
  return standardised(indicators);
}

Matrix<double> variates_on(const Matrix<double>& x, const SparsePlsView& view) {
  return (x.rowwise() - view.mean) * view.weights;
}

double criterion_slope(SparsePlsScheme scheme, double x) {
  if (scheme == SparsePlsScheme::horst) return 1;
  return scheme == SparsePlsScheme::centroid ? std::copysign(1, x) : 2 * x;
}

SparsePlsScheme scheme_of(const std::string& name) {
  return std::map<std::string, SparsePlsScheme>{{"horst", SparsePlsScheme::horst},
                                                {"centroid", SparsePlsScheme::centroid},
                                                {"factorial", SparsePlsScheme::factorial}}
      .at(name);
}

class SparsePlsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(SparsePlsGolden, Values) {
  const testing::Golden golden(GetParam(), "sparse_pls_reference.json");
  const std::vector<Matrix<double>> views = golden.matrices("views");
  const SparsePlsSolution s = sparse_pls(views, golden.integers("y"),
                                         {.components = golden.get<Index>("components"),
                                          .keep = golden.get<std::vector<Index>>("keep"),
                                          .links = golden.matrix("links"),
                                          .scheme = scheme_of(golden.text("scheme")),
                                          .tolerance = kTight,
                                          .max_iterations = kMany});
  EXPECT_THAT(s.converged, Each(true));
  EXPECT_EQ(s.classes, golden.integers("classes"));
  EXPECT_LT(max_error(s.objectives, golden.vector("objectives")), 1e-9);
  EXPECT_LT(max_error(s.outcome_loadings, golden.matrix("outcome_loadings")), 1e-9);
  EXPECT_LT(max_error(s.outcome_variates, golden.matrix("outcome_variates")), 1e-9);
  for (std::size_t v = 0; v < views.size(); ++v) {
    const testing::Golden want = golden.group("by_view").group(std::to_string(v));
    const SparsePlsView& got = s.views[v];
    EXPECT_LT(max_error(got.loadings, want.matrix("loadings")), 1e-9);
    EXPECT_LT(max_error(got.weights, want.matrix("weights")), 1e-8);
    EXPECT_LT(max_error(got.variates, want.matrix("variates")), 1e-9);
    EXPECT_LT(max_error(got.coefficients, want.matrix("coefficients")), 1e-9);
    EXPECT_LT(max_error(got.intercept.transpose(), want.vector("intercept")), 1e-9);
    EXPECT_LT(max_error(got.explained_variance, want.vector("explained_variance")), 1e-9);
    EXPECT_LT(max_error(got.outcome_correlations, want.vector("outcome_correlations")), 1e-9);
    EXPECT_EQ(got.selected, want.get<std::vector<std::vector<Index>>>("selected"));
    const Matrix<double> scores = (views[v] * got.coefficients).rowwise() + got.intercept;
    EXPECT_LT(max_error(scores, want.matrix("predicted")), 1e-9);
    for (Index i = 0; i < scores.rows(); ++i) {
      Index best = 0;
      scores.row(i).maxCoeff(&best);
      EXPECT_EQ(s.classes[static_cast<std::size_t>(best)],
                want.integers("predicted_class")[static_cast<std::size_t>(i)]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SparsePls, SparsePlsGolden,
                         ::testing::Values("one_view", "one_view_wide", "one_view_sparse", "two_views",
                                           "two_views_sparse", "two_views_linked_wide", "three_views",
                                           "three_views_design_wide", "centroid", "factorial"),
                         [](const auto& test) { return std::string(test.param); });

TEST(SparsePls, OneViewOneComponentIsTheLeadingSingularVector) {
  for (const Index d : {5, 300}) {
    const Data data = clouds(30, {d}, 3);
    const Matrix<double> outcome = outcome_of(data.y);
    const ThinSvd svd = thin_svd(data.views[0].transpose() * outcome);
    const SparsePlsSolution s = sparse_pls(data.views, data.y);
    EXPECT_EQ(s.iterations[0], 1);
    EXPECT_NEAR(s.objectives(0), svd.values(0) / 29, 1e-10);
    EXPECT_NEAR(std::abs(s.views[0].loadings.col(0).dot(svd.left.col(0))), 1, 1e-12);
    EXPECT_NEAR(std::abs(s.outcome_loadings.col(0).dot(svd.right_t.row(0))), 1, 1e-12);
  }
}

TEST(SparsePls, KeepsAsManyColumnsAsAsked) {
  const Data data = clouds(20, {30, 50, 8}, 3);
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 3, .keep = {4, 17, 0}});
  const std::vector<std::size_t> want = {4, 17, 8};
  for (std::size_t v = 0; v < 3; ++v)
    for (Index k = 0; k < 3; ++k) {
      const Vector<double> loading = s.views[v].loadings.col(k);
      const std::vector<Index>& selected = s.views[v].selected[static_cast<std::size_t>(k)];
      ASSERT_EQ(selected.size(), want[v]);
      EXPECT_TRUE(std::is_sorted(selected.begin(), selected.end()));
      EXPECT_EQ((loading.array() != 0).count(), static_cast<Index>(want[v]));
      for (const Index j : selected) EXPECT_NE(loading(j), 0);
      EXPECT_NEAR(loading.norm(), 1, 1e-12);
    }
  // One number for all.
  const SparsePlsSolution one = sparse_pls(data.views, data.y, {.keep = {5}});
  for (const SparsePlsView& view : one.views) EXPECT_EQ(view.selected[0].size(), 5);
  EXPECT_EQ(sparse_pls(data.views, data.y, {.keep = {4, 17, 8}}).views[2].loadings,
            sparse_pls(data.views, data.y, {.keep = {4, 17, 0}}).views[2].loadings);
}

TEST(SparsePls, FindsTheColumnsThatTellTheClasses) {
  Rng rng(4);
  Data data = clouds(60, {3, 3}, 2);
  for (Matrix<double>& view : data.views) {
    view = random_matrix(rng, 60, 40);
    for (Index i = 0; i < 60; i += 2) view.row(i).segment(10, 5).array() += 2;
  }
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.keep = {5}});
  for (const SparsePlsView& view : s.views) {
    EXPECT_THAT(view.selected[0], ElementsAre(10, 11, 12, 13, 14));
    EXPECT_GT(view.outcome_correlations(0), 0.8);
  }
}

TEST(SparsePls, NoRoundLowersTheCriterion) {
  const Data data = clouds(25, {6, 40, 9}, 4);
  for (const SparsePlsScheme scheme : {SparsePlsScheme::horst, SparsePlsScheme::centroid, SparsePlsScheme::factorial}) {
    double before = 0, first = 0;
    for (int rounds = 1; rounds <= 30; ++rounds) {
      const SparsePlsSolution s = sparse_pls(
          data.views, data.y, {.design = 0.8, .scheme = scheme, .tolerance = 1e-300, .max_iterations = rounds});
      EXPECT_GE(s.objectives(0), before * (1 - 1e-13)) << rounds;
      before = s.objectives(0);
      if (rounds == 1) first = before;
    }
    EXPECT_GT(before, first * (1 + 1e-9));
  }
}

TEST(SparsePls, LoadingsPointWhereTheirViewsAgreeWithTheOthers) {
  const Data data = clouds(25, {6, 40, 9}, 4);
  const Matrix<double> outcome = outcome_of(data.y);
  for (const SparsePlsScheme scheme : {SparsePlsScheme::horst, SparsePlsScheme::centroid, SparsePlsScheme::factorial}) {
    const SparsePlsSolution s =
        sparse_pls(data.views, data.y, {.design = 0.6, .scheme = scheme, .tolerance = kTight, .max_iterations = kMany});
    const auto pulled = [&](const Vector<double>& t, const Vector<double>& other) {
      return (criterion_slope(scheme, t.dot(other) / 24) * other).eval();
    };
    const Vector<double> u = s.outcome_variates.col(0);
    Vector<double> all = Vector<double>::Zero(25);
    for (std::size_t v = 0; v < 3; ++v) {
      const Vector<double> t = s.views[v].variates.col(0);
      Vector<double> z = pulled(t, u);
      for (std::size_t w = 0; w < 3; ++w)
        if (w != v) z += 0.6 * pulled(t, s.views[w].variates.col(0));
      EXPECT_LT(max_error((data.views[v].transpose() * z).normalized(), s.views[v].loadings.col(0)), 1e-10);
      all += pulled(u, t);
    }
    EXPECT_LT(max_error((outcome.transpose() * all).normalized(), s.outcome_loadings.col(0)), 1e-10);
  }
}

TEST(SparsePls, VariatesAreOrthogonalAndComeFromTheWeights) {
  const Data data = clouds(15, {10, 200}, 3);
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 6, .keep = {5, 20}});
  for (std::size_t v = 0; v < 2; ++v) {
    const Matrix<double> squares = s.views[v].variates.transpose() * s.views[v].variates;
    EXPECT_LT(max_error(squares, squares.diagonal().asDiagonal().toDenseMatrix()), 1e-10);
    EXPECT_GT(squares.diagonal().minCoeff(), 0.1);
    EXPECT_LT(max_error(variates_on(data.views[v], s.views[v]), s.views[v].variates), 1e-9);
    EXPECT_LE(s.views[v].explained_variance.sum(), 1 + 1e-12);
  }
}

TEST(SparsePls, RegressionIsLeastSquaresOnTheVariates) {
  const Data data = clouds(24, {9, 30}, 3);
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 3, .keep = {4, 8}});
  Matrix<double> indicators = Matrix<double>::Zero(24, 3);
  for (Index i = 0; i < 24; ++i) indicators(i, i % 3) = 1;
  for (std::size_t v = 0; v < 2; ++v) {
    const Matrix<double> left =
        indicators - ((data.views[v] * s.views[v].coefficients).rowwise() + s.views[v].intercept);
    EXPECT_LT((s.views[v].variates.transpose() * left).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT(left.colwise().sum().cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(SparsePls, MoreColumnsThanSamplesEqualTheRowSpace) {
  // Without thresholds, X = R Q with orthonormal rows Q has the components of R: n × n in place of n × d.
  const Data wide = clouds(12, {300, 150}, 3);
  Data small = wide;
  std::vector<Matrix<double>> axes;
  for (Matrix<double>& view : small.views) {
    const ThinSvd svd = thin_svd(view);
    axes.push_back(svd.right_t);
    view *= svd.right_t.transpose();
  }
  const SparsePlsOptions options{.components = 3, .tolerance = kTight, .max_iterations = kMany};
  const SparsePlsSolution got = sparse_pls(wide.views, wide.y, options);
  const SparsePlsSolution want = sparse_pls(small.views, small.y, options);
  EXPECT_LT(max_error(got.objectives, want.objectives), 1e-10);
  for (Index k = 0; k < 3; ++k) {
    // The largest entry of a loading, which settles the sign, is another in other coordinates.
    const double sign = got.outcome_loadings.col(k).dot(want.outcome_loadings.col(k)) < 0 ? -1 : 1;
    for (std::size_t v = 0; v < 2; ++v) {
      EXPECT_LT(max_error(got.views[v].variates.col(k), sign * want.views[v].variates.col(k)), 1e-9);
      EXPECT_LT(max_error(got.views[v].weights.col(k), sign * axes[v].transpose() * want.views[v].weights.col(k)),
                1e-9);
    }
  }
}

TEST(SparsePls, OrderOfSamplesDoesNotMatter) {
  const Data data = clouds(20, {12, 40}, 3);
  std::vector<Index> order(20);
  std::iota(order.begin(), order.end(), 0);
  std::reverse(order.begin() + 3, order.end());
  Data shuffled = data;
  for (std::size_t v = 0; v < 2; ++v) shuffled.views[v] = data.views[v](order, Eigen::all);
  for (std::size_t i = 0; i < 20; ++i) shuffled.y[i] = data.y[static_cast<std::size_t>(order[i])];
  const SparsePlsOptions options{.components = 3, .keep = {4, 9}, .design = 0.5};
  const SparsePlsSolution want = sparse_pls(data.views, data.y, options);
  const SparsePlsSolution got = sparse_pls(shuffled.views, shuffled.y, options);
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_LT(max_error(got.views[v].weights, want.views[v].weights), 1e-9);
    EXPECT_LT(max_error(got.views[v].variates, want.views[v].variates(order, Eigen::all)), 1e-9);
    EXPECT_EQ(got.views[v].selected, want.views[v].selected);
  }
}

TEST(SparsePls, ThreadsDoNotMatter) {
  const Data data = clouds(20, {60, 500}, 3);
  const SparsePlsOptions options{.components = 2, .keep = {9, 0}};
  const SparsePlsSolution want = sparse_pls(data.views, data.y, options);
  for (const int threads : {1, 3}) {
    std::vector<SparsePlsSolution> got(4);
    make_context(threads).parallel(
        4, [&](Index i) { got[static_cast<std::size_t>(i)] = sparse_pls(data.views, data.y, options); });
    for (const SparsePlsSolution& s : got)
      for (std::size_t v = 0; v < 2; ++v) EXPECT_EQ(s.views[v].weights, want.views[v].weights);
  }
}

TEST(SparsePls, SignsFollowTheFirstView) {
  const Data data = clouds(20, {12, 40}, 4);
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 4, .keep = {6, 6}});
  for (Index k = 0; k < 4; ++k) {
    const Vector<double> first = s.views[0].loadings.col(k);
    EXPECT_EQ(first.maxCoeff(), first.cwiseAbs().maxCoeff());
    EXPECT_GT(s.views[0].variates.col(k).dot(s.outcome_variates.col(k)), 0);
    EXPECT_GT(s.views[1].variates.col(k).dot(s.outcome_variates.col(k)), 0);
  }
}

TEST(SparsePls, TheDesignTradesTheClassesForAgreement) {
  const Data data = clouds(40, {20, 30}, 3);
  const auto agreement = [&](double design) {
    const SparsePlsSolution s = sparse_pls(data.views, data.y, {.design = design});
    return s.views[0].variates.col(0).dot(s.views[1].variates.col(0));
  };
  EXPECT_GT(agreement(1), agreement(0.1));
  EXPECT_GT(agreement(0.1), agreement(0));
  // Without links each view is on its own but for c.
  Matrix<double> links(2, 2);
  links << 7, 0.4, 0.4, std::numeric_limits<double>::quiet_NaN();  // the diagonal is not read
  EXPECT_EQ(sparse_pls(data.views, data.y, {.links = links}).views[1].weights,
            sparse_pls(data.views, data.y, {.design = 0.4}).views[1].weights);
}

TEST(SparsePls, ConstantColumnsAreNeverKept) {
  Data data = clouds(20, {6, 7}, 3);
  data.views[0].col(1).setConstant(3);
  data.views[0].col(4).setConstant(1e6);
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 2, .keep = {5, 3}});
  for (const std::vector<Index>& selected : s.views[0].selected) EXPECT_THAT(selected, ElementsAre(0, 2, 3, 5));
  EXPECT_EQ(s.views[0].weights.row(4).norm(), 0);
}

TEST(SparsePls, OfCopiesTheFirstAreKept) {
  Data data = clouds(20, {6, 7}, 3);
  const std::vector<Index> copies = {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0};
  const Matrix<double> plain = data.views[0];
  data.views[0] = plain(Eigen::all, copies);
  for (Index keep = 1; keep <= 11; ++keep) {
    const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 2, .keep = {keep, 0}});
    for (std::size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(s.views[0].selected[k].size(), static_cast<std::size_t>(keep));
      // A second copy is never there without the first.
      for (const Index j : s.views[0].selected[k])
        EXPECT_TRUE(j < 6 || s.views[0].loadings(11 - j, static_cast<Index>(k)) != 0) << keep;
    }
    EXPECT_TRUE(s.views[0].weights.allFinite());
  }
}

TEST(SparsePls, AViewOfWhichNothingIsLeftIsZeroFromThere) {
  Data data = clouds(20, {2, 9}, 3);
  data.views.push_back(Matrix<double>::Constant(20, 4, 2.5));
  data.views[0].conservativeResize(20, 3);
  data.views[0].col(2) = data.views[0].col(0) - 2 * data.views[0].col(1);  // rank 2
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 5});
  EXPECT_GT(s.views[0].variates.col(1).norm(), 0.1);
  EXPECT_EQ(s.views[0].variates.rightCols(3).norm(), 0);
  EXPECT_EQ(s.views[0].weights.rightCols(3).norm(), 0);
  EXPECT_NEAR(s.views[0].explained_variance.sum(), 1, 1e-10);
  EXPECT_GT(s.views[1].variates.col(4).norm(), 0.1);
  EXPECT_EQ(s.views[2].loadings.norm(), 0);
  EXPECT_EQ(s.views[2].coefficients.norm(), 0);
  EXPECT_NEAR(s.views[2].intercept.sum(), 1, 1e-12);  // the classes' shares
  EXPECT_TRUE(s.views[2].selected[0].empty());
  for (const SparsePlsView& view : s.views) EXPECT_TRUE(view.coefficients.allFinite());
}

TEST(SparsePls, ClassesThatAreExplainedPullNoMore) {
  // Columns 0 and 1 together are the indicator; what is left of it after them is rounding, not another component.
  Rng rng(5);
  Data data = clouds(40, {2}, 2);
  const Vector<double> indicator = outcome_of(data.y).col(1);
  Matrix<double> x = random_matrix(rng, 40, 6);
  x.col(0) += indicator;
  x.col(1) = indicator - 0.4 * x.col(0);
  data.views = {standardised(x), standardised(x)};  // which could go on agreeing with one another
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 3, .keep = {1}});
  for (const SparsePlsView& view : s.views)
    EXPECT_THAT(view.selected, ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre()));
  EXPECT_EQ(s.outcome_loadings.col(2).norm(), 0);
  EXPECT_EQ(s.objectives(2), 0);
}

TEST(SparsePls, AllComponentsOfFewSamplesReproduceTheClasses) {
  const Data data = clouds(8, {100}, 2);
  const SparsePlsSolution s = sparse_pls(data.views, data.y, {.components = 7});
  const Matrix<double> scores = (data.views[0] * s.views[0].coefficients).rowwise() + s.views[0].intercept;
  for (Index i = 0; i < 8; ++i) EXPECT_NEAR(scores(i, i % 2), 1, 1e-8);
  EXPECT_TRUE(s.views[0].weights.allFinite());
}

TEST(SparsePls, OnlyLabelledSamplesEnterAndClassesMayHaveAnyNumbers) {
  const Data data = clouds(21, {4, 3}, 3);
  const SparsePlsSolution want = sparse_pls(data.views, data.y);
  Data more = data;
  for (Matrix<double>& view : more.views) {
    view.conservativeResize(23, Eigen::NoChange);
    view.bottomRows(2).setConstant(100);
  }
  for (int& code : more.y) code = 7 + 2 * code;
  more.y.insert(more.y.end(), {-1, -1});
  const SparsePlsSolution got = sparse_pls(more.views, more.y);
  EXPECT_THAT(got.classes, ElementsAre(7, 9, 11));
  EXPECT_EQ(got.views[0].weights, want.views[0].weights);
  EXPECT_EQ(got.views[1].coefficients, want.views[1].coefficients);
  EXPECT_EQ(got.views[0].mean, want.views[0].mean);
  EXPECT_EQ(got.views[0].variates.rows(), 21);
}

TEST(SparsePls, SaysWhetherItHasConverged) {
  const Data data = clouds(20, {30, 20}, 3);
  const SparsePlsSolution cut = sparse_pls(data.views, data.y, {.components = 2, .max_iterations = 1});
  EXPECT_THAT(cut.converged, ElementsAre(false, false));
  EXPECT_THAT(cut.iterations, ElementsAre(1, 1));
  EXPECT_THAT(sparse_pls(data.views, data.y, {.components = 2}).converged, ElementsAre(true, true));
}

TEST(SparseDirection, SoftThresholds) {
  const Vector<double> g = (Vector<double>(5) << 1, -4, 0, 3, -2).finished();
  const Vector<double> want = (Vector<double>(5) << 0, -2, 0, 1, 0).finished();
  EXPECT_LT(max_error(detail::sparse_direction(g, 2), want.normalized()), 1e-15);
  EXPECT_LT(max_error(detail::sparse_direction(g, 0), g.normalized()), 1e-15);
  EXPECT_LT(max_error(detail::sparse_direction(g, 4), g.normalized()), 1e-15);  // nothing is below
  EXPECT_LT(max_error(detail::sparse_direction(g, 5), g.normalized()), 1e-15);
  EXPECT_LT(max_error(detail::sparse_direction(1e200 * g, 2), want.normalized()), 1e-15);
  EXPECT_EQ(detail::sparse_direction(Vector<double>::Zero(3), 2), Vector<double>::Zero(3));
}

TEST(SparseDirection, TakesTheFirstOfTies) {
  const Vector<double> g = (Vector<double>(5) << 1, 2, -2, 3, 2).finished();
  const Vector<double> two = (Vector<double>(5) << 0, 1, 0, 2, 0).finished();
  const Vector<double> three = (Vector<double>(5) << 0, 1, -1, 2, 0).finished();
  EXPECT_LT(max_error(detail::sparse_direction(g, 2), two.normalized()), 1e-15);
  EXPECT_LT(max_error(detail::sparse_direction(g, 3), three.normalized()), 1e-15);
  // Rounding does not change which.
  const Vector<double> nearly = (Vector<double>(5) << 1, 2 - 4e-16, -2, 3, 2 + 4e-16).finished();
  EXPECT_LT(max_error(detail::sparse_direction(nearly, 2), two.normalized()), 1e-14);
}

void expect_error(const Data& data, const SparsePlsOptions& options, const std::string& message) {
  EXPECT_THAT([&] { sparse_pls(data.views, data.y, options); }, ThrowsMessage<InputError>(StrEq(message)));
}

TEST(SparsePls, RefusesBadOptions) {
  const Data data = clouds(6, {2, 3}, 2);
  expect_error(data, {.components = 0}, "[sparse_pls] components: got 0, need at least 1; set how many to find");
  expect_error(data, {.components = 6},
               "[sparse_pls] components: got 6, need at most 5, the labelled samples less one; ask for fewer");
  expect_error(data, {.keep = {-1}}, "[sparse_pls] keep: got -1, need 0 (all) or more; set how many columns");
  expect_error(data, {.keep = {1, 1, 1}}, "[sparse_pls] keep: got 3, need 2, one for each view; or one for all");
  expect_error(data, {.keep = {3}}, "[sparse_pls] keep of view 1: got 3, need at most its 2 columns; use 0 for all");
  expect_error(data, {.design = 1.5}, "[sparse_pls] design: got 1.5, need 0 <= design <= 1; use 0.1");
  expect_error(data, {.tolerance = 0}, "[sparse_pls] tolerance: got 0, need a positive number; use 1e-6");
  expect_error(data, {.max_iterations = 0}, "[sparse_pls] max_iterations: got 0, need at least 1; use 100");
  expect_error(data, {.links = Matrix<double>::Zero(3, 3)},
               "[sparse_pls] shape of links: got 3 x 3, need 2 x 2, one row for each view; leave out the classes");
  Matrix<double> links(2, 2);
  links << 0, 0.5, 0.4, 0;
  expect_error(data, {.links = links},
               "[sparse_pls] link of views 1 and 2: got 0.5 and 0.4, need the same number in [0, 1] in both places; "
               "mend the matrix");
}

TEST(SparsePls, RefusesBadData) {
  Data data = clouds(6, {2, 3}, 2);
  expect_error({}, {}, "[sparse_pls] number of views: got 0, need at least 1; add views");
  expect_error({data.views, {0, 1}}, {},
               "[sparse_pls] number of labels: got 2, need 6, one for each row; use -1 for unlabelled");
  expect_error({data.views, std::vector<int>(6, 1)}, {},
               "[sparse_pls] classes with samples: got 1, need at least 2; add labelled samples of others");
  data.views[1](2, 1) = std::numeric_limits<double>::infinity();
  expect_error(data, {},
               "[sparse_pls] view 2, row 2, column 1 (counted from 0): got inf, need a finite number; impute it or "
               "drop the row");
}

}  // namespace
}  // namespace tocca
