#include "tocca/linalg/mvda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/covariance.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

struct Data {
  std::vector<Matrix<double>> views;
  std::vector<int> y;
};

/// Normal clouds around one centre for each class and view.
Data clouds(Index n, const std::vector<Index>& widths, int class_count, double distance) {
  Rng rng(12);
  Data data;
  for (Index i = 0; i < n; ++i) data.y.push_back(static_cast<int>(i) % class_count);
  for (const Index d : widths) {
    const Matrix<double> centres = distance * random_matrix(rng, class_count, d);
    data.views.push_back(random_matrix(rng, n, d));
    for (Index i = 0; i < n; ++i) data.views.back().row(i) += centres.row(i % class_count);
  }
  return data;
}

/// Scatter of projections z of all views between and within classes, about one mean for each class over the views.
struct Scatters {
  Matrix<double> between, within;
};

Scatters scatters(const Data& data, const MultiviewSolution& s) {
  const Index k = s.eigenvalues.size(), views = static_cast<Index>(data.views.size()), n = data.views[0].rows();
  Matrix<double> z(views * n, k);
  for (Index v = 0; v < views; ++v) {
    const auto at = static_cast<std::size_t>(v);
    z.middleRows(v * n, n) = centre(data.views[at]).rows * s.weights[at];
  }
  Scatters result{Matrix<double>::Zero(k, k), Matrix<double>::Zero(k, k)};
  for (int c = 0; c <= *std::max_element(data.y.begin(), data.y.end()); ++c) {
    std::vector<Index> members;
    for (Index i = 0; i < views * n; ++i)
      if (data.y[static_cast<std::size_t>(i % n)] == c) members.push_back(i);
    const Centred of_class = centre(z(members, Eigen::all));
    result.within += of_class.rows.transpose() * of_class.rows;
    result.between += static_cast<double>(members.size()) * of_class.mean.transpose() * of_class.mean;
  }
  return result;
}

TEST(Mvda, GoldenValues) {
  for (const char* name : {"views_tall", "views_wide"}) {
    const testing::Golden golden(name, "linear_reference.json");
    const testing::Golden want = golden.group("methods").group("mvda");
    const MultiviewSolution s =
        mvda(golden.matrices("views"), golden.integers("y"), {.ridges = golden.get<std::vector<double>>("ridges")});
    EXPECT_LT(max_error(s.eigenvalues, want.vector("eigenvalues")), 1e-10) << name;
    const std::vector<Matrix<double>> weights = want.matrices("weights");
    for (std::size_t v = 0; v < weights.size(); ++v) EXPECT_LT(max_error(s.weights[v], weights[v]), 1e-9) << name;
  }
}

TEST(Mvda, ProjectionsAreDiscriminantOverAllViews) {
  const Data data = clouds(60, {4, 3, 6}, 4, 1);
  const MultiviewSolution s = mvda(data.views, data.y);
  ASSERT_EQ(s.eigenvalues.size(), 3);
  const Scatters scatter = scatters(data, s);
  // Both are diagonal, in the ratio of the eigenvalues.
  const Matrix<double> within = scatter.within.diagonal().asDiagonal();
  EXPECT_LT(max_error(scatter.within, within), 1e-10);
  EXPECT_LT(max_error(scatter.between, within * s.eigenvalues.asDiagonal()), 1e-10);
  const Vector<double> total = (scatter.within + scatter.between).diagonal() / 59;
  EXPECT_LT(max_error(total, Vector<double>::Constant(3, 3)), 1e-10);
  for (Index j = 0; j < 3; ++j) EXPECT_EQ(s.weights[0].col(j).maxCoeff(), s.weights[0].col(j).cwiseAbs().maxCoeff());
}

TEST(Mvda, OtherDirectionsSeparateLess) {
  const Data data = clouds(60, {4, 3}, 3, 1);
  const MultiviewSolution s = mvda(data.views, data.y, {.components = 1});
  Rng rng(1);
  for (int attempt = 0; attempt < 200; ++attempt) {
    MultiviewSolution other = s;
    for (Matrix<double>& w : other.weights) w += (attempt < 100 ? 0.05 : 5) * random_matrix(rng, w.rows(), 1);
    const Scatters scatter = scatters(data, other);
    EXPECT_LT(scatter.between(0, 0) / scatter.within(0, 0), s.eigenvalues(0));
  }
}

TEST(Mvda, OneViewIsLinearDiscriminantAnalysis) {
  const Data data = clouds(50, {5}, 3, 1);
  const MultiviewSolution s = mvda(data.views, data.y);
  // S_w⁻¹ S_b w = λ w on the columns themselves.
  MultiviewSolution identity;
  identity.eigenvalues = Vector<double>::Zero(5);
  identity.weights = {Matrix<double>::Identity(5, 5)};
  const Scatters scatter = scatters(data, identity);
  EXPECT_LT(max_error(scatter.between * s.weights[0], scatter.within * s.weights[0] * s.eigenvalues.asDiagonal()),
            1e-10);
}

TEST(Mvda, SeparatesAcrossTheViews) {
  // The nearest class mean in the shared space, of samples of one view and means of the other.
  const Data data = clouds(80, {8, 5}, 4, 4);
  const MultiviewSolution s = mvda(data.views, data.y);
  EXPECT_GT(s.eigenvalues(2), 5);
  const Matrix<double> z1 = centre(data.views[0]).rows * s.weights[0], z2 = centre(data.views[1]).rows * s.weights[1];
  int right = 0;
  for (Index i = 0; i < 80; ++i) {
    Index nearest = 0;
    Matrix<double> means = Matrix<double>::Zero(4, 3);
    for (Index j = 0; j < 80; ++j) means.row(j % 4) += z2.row(j) / 20;
    (means.rowwise() - z1.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
    if (nearest == i % 4) ++right;
  }
  EXPECT_EQ(right, 80);
}

TEST(Mvda, FewerSamplesThanColumns) {
  const Data data = clouds(12, {4000, 30}, 3, 1);
  const MultiviewSolution plain = mvda(data.views, data.y), ridged = mvda(data.views, data.y, {.ridges = {1}});
  EXPECT_EQ(plain.ranks, (std::vector<Index>{11, 11}));
  EXPECT_EQ(plain.eigenvalues.size(), 2);
  EXPECT_GT(plain.eigenvalues(1), 1e10);  // nothing is left within the classes
  EXPECT_TRUE(plain.weights[0].allFinite());
  EXPECT_LT(ridged.eigenvalues(0), 1e4);
}

TEST(Mvda, OnlyLabelledSamplesEnter) {
  const Data data = clouds(30, {4, 3}, 3, 1);
  const MultiviewSolution want = mvda(data.views, data.y);
  Data more = data;
  for (Matrix<double>& view : more.views) {
    view.conservativeResize(32, Eigen::NoChange);
    view.bottomRows(2).setConstant(100);
  }
  more.y.insert(more.y.end(), {-1, -1});
  const MultiviewSolution got = mvda(more.views, more.y);
  EXPECT_EQ(got.weights[0], want.weights[0]);
  EXPECT_EQ(got.eigenvalues, want.eigenvalues);
}

TEST(Mvda, ClassesMayHaveAnyNumbers) {
  Data data = clouds(30, {4, 3}, 3, 1);
  const MultiviewSolution want = mvda(data.views, data.y);
  for (int& code : data.y) code = 7 + 2 * code;
  EXPECT_EQ(mvda(data.views, data.y).weights[1], want.weights[1]);
  EXPECT_EQ(mvda(data.views, data.y, {.components = 1}).weights[1], want.weights[1].leftCols(1));
}

TEST(Mvda, RefusesBadData) {
  Data data = clouds(6, {2, 3}, 2, 1);
  EXPECT_THAT([] { mvda({}, {}); },
              ThrowsMessage<InputError>(StrEq("[mvda] number of views: got 0, need at least 1; add views")));
  data.y.pop_back();
  EXPECT_THAT([&] { mvda(data.views, data.y); },
              ThrowsMessage<InputError>(
                  StrEq("[mvda] number of labels: got 5, need 6, one for each row; use -1 for unlabelled")));
  EXPECT_THAT([&] { mvda(data.views, std::vector<int>(6, 1)); },
              ThrowsMessage<InputError>(
                  StrEq("[mvda] classes with samples: got 1, need at least 2; add labelled samples of others")));
}

}  // namespace
}  // namespace tocca
