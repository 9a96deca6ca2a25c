#include "tocca/methods/joint_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tocca/core/rng.h"
#include "tocca/linalg/cca.h"
#include "tocca/methods/methods.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

double largest(const Matrix<double>& m) { return m.cwiseAbs().maxCoeff(); }

Matrix<double> normal(Index rows, Index columns, const char* name) {
  Rng rng = Rng(3).split(name);
  return Matrix<double>::NullaryExpr(rows, columns, [&] { return rng.normal(); });
}

/// Columns of very different means and deviations, one constant, the first correlated with the rest.
Matrix<double> badly_scaled(Index rows, const char* name) {
  Matrix<double> x = normal(rows, 5, name);
  x.rightCols(4).colwise() += x.col(0);
  x.col(0) = x.col(0).array() + 1e6;
  x.col(1) *= 1e-7;
  x.col(2) = x.col(2).array() * 1e5 - 3e9;
  x.col(3).setConstant(0.1);
  return x;
}

Views views_of(const std::vector<Table>& tables) {
  Views views;
  for (Index i = 0; i < tables[0].rows(); ++i) views.samples.push_back(std::to_string(i));
  for (const Table& table : tables) {
    View view{"view" + std::to_string(views.count()), {}, table, std::vector<Index>(views.samples.size())};
    std::iota(view.row_of_sample.begin(), view.row_of_sample.end(), 0);
    for (Index j = 0; j < table.columns(); ++j) view.features.push_back(std::to_string(j));
    views.views.push_back(std::move(view));
  }
  return views;
}

/// In two passes and more digits than double has.
void expect_moments(const JointMoments& got, const Matrix<double>& a, const Matrix<double>& b) {
  Wide x(a.rows(), a.cols() + b.cols());
  x << a.cast<long double>(), b.cast<long double>();
  const Eigen::Matrix<long double, 1, Eigen::Dynamic> mean = x.colwise().mean();
  x.rowwise() -= mean;
  const Wide want = x.transpose() * x / static_cast<long double>(x.rows() - 1);
  ASSERT_EQ(got.count, a.rows());
  for (Index i = 0; i < want.rows(); ++i) {
    const auto centre = static_cast<double>(mean(i));
    EXPECT_NEAR(got.mean(i), centre, 1e-14 * (std::abs(centre) + static_cast<double>(std::sqrt(want(i, i)))));
    for (Index j = 0; j < want.cols(); ++j) {
      const auto scale = static_cast<double>(std::sqrt(want(i, i) * want(j, j)));
      EXPECT_NEAR(got.covariance(i, j), static_cast<double>(want(i, j)), 1e-10 * scale + 1e-30) << i << ", " << j;
    }
  }
}

TEST(JointMoments, OnePassEqualsTwoForBadlyScaledColumns) {
  const Matrix<double> a = badly_scaled(9000, "a"), b = badly_scaled(9000, "b");
  const auto got = joint_moments(views_of({Table(a), Table(b)}), {});
  ASSERT_TRUE(got);
  expect_moments(*got, a, b);
  // A constant column is exactly that, however the rows were cut.
  EXPECT_EQ(got->covariance.col(3), Vector<double>::Zero(10));
  EXPECT_EQ(got->mean(3), 0.1);
}

TEST(JointMoments, OrderOfTheRowsCostsNoDigits) {
  // What the origin is first taken from says nothing of the rest: sorted columns, an outlier, a long constant start.
  Matrix<double> a = normal(20000, 3, "a"), b = normal(20000, 2, "b");
  for (Index i = 0; i < a.rows(); ++i) a(i, 0) = static_cast<double>(i) - 1e7;
  a(0, 1) = 1e6;
  a.col(2).head(3000).setConstant(-1e5);
  b.col(0).head(1).setConstant(1e9);
  const auto got = joint_moments(views_of({Table(a), Table(b)}), {});
  ASSERT_TRUE(got);
  expect_moments(*got, a, b);
}

TEST(JointMoments, OfAnyNumberTypeAndStorageOrder) {
  constexpr Index kRows = 700, kColumns = 11;
  const auto integers = std::make_shared<std::vector<std::int16_t>>();
  Rng rng(5);
  for (Index i = 0; i < kRows * kColumns; ++i) integers->push_back(static_cast<std::int16_t>(rng.below(1000)));
  const Table by_row(integers, integers->data(), NumberType::i2, kRows, kColumns, kColumns, 1);
  const Table by_column(integers, integers->data(), NumberType::i2, kRows, kColumns, 1, kRows);
  const auto values = [&](Index row_stride, Index column_stride) {
    return Matrix<double>(Matrix<double>::NullaryExpr(kRows, kColumns, [&](Index i, Index j) {
      return (*integers)[static_cast<std::size_t>(i * row_stride + j * column_stride)];
    }));
  };
  const auto got = joint_moments(views_of({by_row, by_column}), {});
  ASSERT_TRUE(got);
  expect_moments(*got, values(kColumns, 1), values(1, kRows));
}

TEST(JointMoments, AreTheSameBitsForAnyNumberOfThreads) {
  const Views views = views_of({Table(badly_scaled(10000, "a")), Table(badly_scaled(10000, "b"))});
  const auto one = joint_moments(views, {});
  ASSERT_TRUE(one);
  for (const int threads : {2, 3, 5}) {
    const auto more = joint_moments(views, make_context(threads));
    EXPECT_EQ(more->covariance, one->covariance);
    EXPECT_EQ(more->mean, one->mean);
  }
}

TEST(JointMoments, LeaveWhatOnePassCannotDo) {
  const Matrix<double> a = normal(40, 3, "a"), b = normal(40, 2, "b");
  EXPECT_TRUE(joint_moments(views_of({Table(a), Table(b)}), {}));
  EXPECT_FALSE(joint_moments(views_of({Table(a)}), {}));
  EXPECT_FALSE(joint_moments(views_of({Table(normal(40, 38, "wide")), Table(b)}), {}));
  Views gap = views_of({Table(a), Table(b)});
  gap.views[1].row_of_sample[7] = -1;
  EXPECT_FALSE(joint_moments(gap, {}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 1e200}) {
    Matrix<double> spoilt = b;
    spoilt(39, 1) = bad;
    EXPECT_FALSE(joint_moments(views_of({Table(a), Table(spoilt)}), {})) << bad;
  }
}

TEST(JointMoments, GiveTheStandardizersAndTheMomentsOfStandardizedColumns) {
  Dataset data = testing::make_dataset({badly_scaled(500, "a"), badly_scaled(500, "b")}, {}, 0);
  const auto joint = joint_moments(data.views, {});
  ASSERT_TRUE(joint);
  for (const Standardize mode : {Standardize::zscore, Standardize::scale, Standardize::center, Standardize::none}) {
    FittedModel model;
    for (Index v = 0; v < 2; ++v) {
      const Standardizer want = fit_standardizer(data.views, v, mode, MissingValues::error, {});
      const Standardizer got = standardizer_of(column_moments_of(*joint, 5 * v, 5), mode, MissingValues::error);
      EXPECT_EQ(got.constant, want.constant);
      EXPECT_LT(largest((got.scale - want.scale) * want.scale.cwiseMax(1e-300).cwiseInverse().asDiagonal()), 1e-10);
      EXPECT_LT(largest(got.shift - want.shift), 1e-5);  // of 3e9
      model.views.push_back({"", {}, want});
    }
    std::vector<Index> all(500);
    std::iota(all.begin(), all.end(), 0);
    const JointMoments direct = standardized_moments(model, data.views, all, {});
    const JointMoments scaled = standardize_moments(*joint, model);
    const Vector<double> deviation = direct.covariance.diagonal().cwiseSqrt().cwiseMax(1e-300);
    const auto inverse = deviation.cwiseInverse().asDiagonal();
    EXPECT_LT(largest(inverse * (direct.covariance - scaled.covariance) * inverse), 1e-9);
    EXPECT_LT(largest((direct.mean - scaled.mean) * inverse), 1e-5);
  }
}

TEST(JointMoments, GiveTheCanonicalCorrelationsOfTheProjections) {
  const Dataset data = testing::make_shared(300, 3, 0.5, 1);
  Options options;
  options.n_components = 4;
  for (const char* method : {"cca", "rcca"}) {
    options.method = method;
    const FittedModel model = fit({data.views, {}, {}}, nullptr, options, {}).model;
    ASSERT_EQ(model.pairs.size(), 1U);
    const CanonicalPair& pair = model.pairs[0];
    const auto samples = samples_with_views(data.views, 0, 1);
    const Matrix<double> zu = transform(model, data.views, 0, samples, {});
    const Matrix<double> zv = transform(model, data.views, 1, samples, {});
    const CcaSolution want = cca(zu, zv);
    EXPECT_LT(largest(pair.correlations - want.correlations), 1e-12);
    EXPECT_LT(largest(pair.weights_u - want.weights1), 1e-9);
    EXPECT_LT(largest(pair.weights_v - want.weights2), 1e-9);
    EXPECT_LT(largest(pair.mean_u - zu.colwise().mean()), 1e-12);
    EXPECT_LT(largest(pair.mean_v - zv.colwise().mean()), 1e-12);
  }
}

TEST(JointMoments, ViewsWithoutColumnsHaveNone) {
  const Views views = views_of({Table(Matrix<double>(50, 0)), Table(Matrix<double>(50, 0))});
  EXPECT_FALSE(joint_moments(views, {}).has_value());
}

TEST(JointMoments, AFitWithAGapTakesTheOtherWayToTheSameModel) {
  const Dataset data = testing::make_shared(300, 3, 0.5, 1);
  // A 301st sample that only has its left view; it changes the standardisation of that view unless there is none.
  Views gap = data.views;
  gap.samples.emplace_back("more");
  gap.views[0].row_of_sample.push_back(5);
  gap.views[1].row_of_sample.push_back(-1);
  Options options;
  options.method = "rcca";
  options.standardize = "none";
  options.n_components = 4;
  const FittedModel one = fit({data.views, {}, {}}, nullptr, options, {}).model;
  const FittedModel two = fit({gap, {}, {}}, nullptr, options, {}).model;
  for (std::size_t v = 0; v < 2; ++v) EXPECT_LT(largest(one.weights[v] - two.weights[v]), 1e-10);
  EXPECT_LT(largest(one.pairs[0].correlations - two.pairs[0].correlations), 1e-12);
}

}  // namespace
}  // namespace tocca
