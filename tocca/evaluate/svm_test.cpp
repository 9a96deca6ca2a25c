#include "tocca/evaluate/svm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/metrics/classification.h"
#include "tocca/testing/clouds.h"

namespace tocca {
namespace {

using testing::Clouds;
using testing::make_clouds;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

LinearClassifier fit(const Clouds& data, int class_count, const SvmOptions& options = {}, const Context& context = {}) {
  return fit_svm(data.x, data.y, class_count, options, Rng(1), context);
}

/// Norm of w − 2C Σ max(0, 1 − y wᵀx) y x, for one class against the rest, relative to that at w = 0.
double relative_gradient(const Clouds& data, const LinearClassifier& svm, int positive) {
  Vector<double> w(data.x.cols() + 1), x(data.x.cols() + 1);
  w << svm.weights.col(positive), svm.bias(positive);
  Vector<double> gradient = w, start = Vector<double>::Zero(w.size());
  for (Index i = 0; i < data.x.rows(); ++i) {
    x << data.x.row(i).transpose(), 1;
    const double sign = data.y[static_cast<std::size_t>(i)] == positive ? 1 : -1;
    gradient -= 2 * svm.cost * std::max(0.0, 1 - sign * w.dot(x)) * sign * x;
    start -= 2 * svm.cost * sign * x;
  }
  return gradient.norm() / start.norm();
}

class SvmOptimality : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Classes, SvmOptimality, ::testing::Values(2, 3, 5));

TEST_P(SvmOptimality, EveryClassIsAtTheMinimumOfItsObjective) {
  const int class_count = GetParam();
  Clouds data = make_clouds(120, 4, class_count, 0.7);
  for (const double cost : {0.01, 1.0, 8.0}) {
    const LinearClassifier svm = fit(data, class_count, {.costs = {cost}, .tolerance = 1e-8});
    EXPECT_EQ(svm.cost, cost);
    for (int c = 0; c < class_count; ++c) EXPECT_LT(relative_gradient(data, svm, c), 1e-5) << c << " " << cost;
  }
}

TEST(Svm, DefaultCosts) {
  const std::vector<double> costs = SvmOptions::default_costs();
  ASSERT_EQ(costs.size(), 15);
  EXPECT_EQ(costs.front(), 1.0 / 1024);
  EXPECT_EQ(costs.back(), 16);
}

TEST(Svm, SeparatesWhatIsSeparable) {
  const Clouds data = make_clouds(400, 10, 4, 3);
  const LinearClassifier svm = fit(data, 4);
  EXPECT_GE(accuracy(svm.predict(data.x), data.y), 0.995);
}

TEST(Svm, TwoClassesMirrorEachOther) {
  const LinearClassifier svm = fit(make_clouds(100, 3, 2, 1), 2);
  EXPECT_EQ(svm.weights.col(0), -svm.weights.col(1));
  EXPECT_EQ(svm.bias(0), -svm.bias(1));
}

TEST(Svm, SearchFindsTheCostThatGeneralises) {
  // Few samples in many dimensions with weak signal: too large a cost fits the noise.
  Clouds data = make_clouds(1100, 60, 2, 0.12);
  const Clouds test{data.x.bottomRows(1000), {data.y.begin() + 100, data.y.end()}};
  const Clouds training{data.x.topRows(100), {data.y.begin(), data.y.begin() + 100}};
  const LinearClassifier searched = fit(training, 2), large = fit(training, 2, {.costs = {16}});
  EXPECT_LT(searched.cost, 1);
  EXPECT_GT(accuracy(searched.predict(test.x), test.y), accuracy(large.predict(test.x), test.y));
}

// The same samples twice: with a copy on the other side of a fold, learning by heart would look best.
TEST(Svm, SearchHoldsOutGroups) {
  const Clouds once = make_clouds(100, 60, 2, 0.12);
  Clouds twice{Matrix<double>(200, 60), once.y};
  twice.x << once.x, once.x;
  twice.y.insert(twice.y.end(), once.y.begin(), once.y.end());
  EXPECT_GE(fit(twice, 2).cost, 0.5);
  for (const Index size : {1, 3}) {  // samples in a group: of one class, or of several
    SvmOptions together;
    for (Index i = 0; i < 200; ++i) together.groups.push_back(i % 100 / size);
    EXPECT_LT(fit(twice, 2, together).cost, 0.5) << size;
  }
}

// The first two groups have all of class 2 and are in one fold: what is left has class 0 and 1 alone, which only a
// large cost tells apart. Were class 2 predicted there, no cost would be better than another.
TEST(Svm, AFoldThatLacksAClassNeverPredictsIt) {
  struct Rows {
    int count, code;
    Index group;
  };
  constexpr Rows kRows[] = {{80, 2, 0}, {1, 2, 1}, {20, 0, 1}, {60, 0, 2}, {40, 1, 3}, {40, 1, 4}};
  Clouds data{Matrix<double>(241, 2), {}};
  SvmOptions options;
  options.costs = {1.0 / 1024, 16};
  for (const Rows& rows : kRows) {
    for (int i = 0; i < rows.count; ++i) {
      data.x.row(static_cast<Index>(data.y.size())) << (rows.code == 2 ? 5 : -5), (rows.code == 0 ? 0.1 : -0.1);
      data.y.push_back(rows.code);
      options.groups.push_back(rows.group);
    }
  }
  EXPECT_EQ(fit(data, 3, options).cost, 16);
}

TEST(Svm, TiesTakeTheSmallestCostInAnyOrder) {
  const Clouds data = make_clouds(60, 5, 2, 20);
  EXPECT_EQ(fit(data, 2, {.costs = {4, 0.5, 2}}).cost, 0.5);
}

TEST(Svm, SameResultForAnyNumberOfThreads) {
  const Clouds data = make_clouds(200, 8, 3, 0.5);
  const LinearClassifier one = fit(data, 3);
  for (const int threads : {1, 2, 5}) {
    const LinearClassifier other = fit(data, 3, {}, make_context(threads));
    EXPECT_EQ(one.cost, other.cost);
    EXPECT_EQ(one.weights, other.weights);
    EXPECT_EQ(one.bias, other.bias);
  }
}

TEST(Svm, UnlabelledRowsAreLeftOut) {
  Clouds data = make_clouds(150, 4, 3, 1);
  const LinearClassifier want = fit(data, 3);
  Clouds more{Matrix<double>(153, 4), data.y};
  more.y.insert(more.y.begin() + 7, 3, -1);
  more.x << data.x.topRows(7), Matrix<double>::Constant(3, 4, std::numeric_limits<double>::quiet_NaN()),
      data.x.bottomRows(143);
  const LinearClassifier got = fit(more, 3);
  EXPECT_EQ(got.cost, want.cost);
  EXPECT_EQ(got.weights, want.weights);
}

TEST(Svm, ClassesWithoutSamplesAreNeverPredicted) {
  Clouds data = make_clouds(100, 3, 2, 2);
  for (int& code : data.y) code = code == 0 ? 1 : 3;
  const LinearClassifier svm = fit(data, 5);
  EXPECT_EQ(svm.weights.cols(), 5);
  EXPECT_TRUE(svm.scores(data.x).allFinite());
  EXPECT_THAT(svm.predict(data.x), ::testing::Each(::testing::AnyOf(1, 3)));
  EXPECT_GT(accuracy(svm.predict(data.x), data.y), 0.8);
}

TEST(Svm, AClassOfOneSampleAllowsNoSearch) {
  Clouds data = make_clouds(50, 3, 2, 2);
  data.y.back() = 2;
  std::string warning;
  Context context;
  context.log = [&](LogLevel, std::string_view text) { warning = text; };
  EXPECT_EQ(fit(data, 3, {}, context).cost, 1);
  EXPECT_THAT(warning, ::testing::HasSubstr("single sample"));
  EXPECT_EQ(fit(data, 3, {.costs = {0.25}}).cost, 0.25);
}

TEST(Svm, RowsOfOneSampleAreHeldOutTogether) {
  Clouds data = make_clouds(12, 3, 2, 2);
  data.y = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  std::string warning;
  Context context;
  context.log = [&](LogLevel, std::string_view text) { warning = text; };
  SvmOptions options;
  options.groups = {7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 8, 9};  // one sample of class 0
  EXPECT_EQ(fit(data, 2, options, context).cost, 1);
  EXPECT_THAT(warning, ::testing::HasSubstr("single sample"));
  warning.clear();
  options.groups[0] = 10;
  fit(data, 2, options, context);
  EXPECT_EQ(warning, "");
  options.groups.pop_back();
  EXPECT_THAT([&] { fit(data, 2, options); },
              ThrowsMessage<InputError>(StrEq("[svm] groups: got 11, need 12, one for each row; or none")));
}

TEST(Svm, SmallClassesLowerTheNumberOfFolds) {
  Clouds data = make_clouds(50, 3, 2, 2);
  data.y[0] = data.y[1] = 2;
  EXPECT_NO_THROW(fit(data, 3));
}

TEST(Svm, StopsSearchingWhenCancelled) {
  const Clouds data = make_clouds(100, 3, 2, 1);
  std::atomic<bool> cancel = false;
  Context context;
  context.cancel = &cancel;
  int reports = 0;
  context.progress = [&](const Progress& state) {
    EXPECT_EQ(state.total, 15);
    if (++reports == 2) cancel = true;
  };
  EXPECT_LE(fit(data, 2, {}, context).cost, 1.0 / 512);
  EXPECT_EQ(reports, 2);
}

TEST(Svm, TiedScoresTakeTheLowerClass) {
  const LinearClassifier flat{Matrix<double>::Zero(2, 4), (RowVector<double>(4) << 0, 1, 1, 0).finished(), 1};
  EXPECT_EQ(flat.predict(Matrix<double>::Ones(2, 2)), (std::vector<int>{1, 1}));
}

TEST(Svm, RefusesBadData) {
  const Clouds data = make_clouds(6, 2, 2, 1);
  const auto with = [&](std::vector<int> y) { return [&data, y] { fit({data.x, y}, 3); }; };
  EXPECT_THAT(with({0, 1, 0}), ThrowsMessage<InputError>(StrEq(
                                   "[svm] number of labels: got 3, need 6, one for each row; use -1 for unlabelled")));
  EXPECT_THAT(
      with({0, 1, 0, 1, 3, 0}),
      ThrowsMessage<InputError>(StrEq("[svm] class of row 4 (counted from 0): got 3, need -1 to 2; mend the labels")));
  EXPECT_THAT(with({1, 1, 1, -1, 1, 1}),
              ThrowsMessage<InputError>(
                  StrEq("[svm] classes with samples: got 1, need at least 2; add labelled samples of others")));
  EXPECT_THAT(with({-1, -1, -1, -1, -1, -1}),
              ThrowsMessage<InputError>(
                  StrEq("[svm] classes with samples: got 0, need at least 2; add labelled samples of others")));
  Clouds bad = data;
  bad.x(3, 1) = std::numeric_limits<double>::infinity();
  bad.y = {0, 1, -1, 0, 1, 0};
  EXPECT_THAT([&] { fit(bad, 2); },
              ThrowsMessage<InputError>(StrEq("[svm] x, row 3, column 1 (counted from 0): got inf, need a finite "
                                              "number; impute it or drop the row")));
  const LinearClassifier svm = fit(data, 2, {.costs = {1}});
  EXPECT_THAT([&] { static_cast<void>(svm.predict(Matrix<double>::Ones(2, 5))); },
              ThrowsMessage<InputError>(StrEq("[classifier] columns: got 5, need 2 as in training")));
}

TEST(Svm, RefusesBadOptions) {
  const Clouds data = make_clouds(20, 2, 2, 1);
  const auto with = [&](const SvmOptions& options) { return [&data, options] { fit(data, 2, options); }; };
  EXPECT_THAT(with({.costs = {}}),
              ThrowsMessage<InputError>(StrEq("[svm] costs: got none, need at least one; leave the default")));
  EXPECT_THAT(with({.costs = {1, -2}}),
              ThrowsMessage<InputError>(StrEq("[svm] costs: got -2, need finite numbers > 0; leave the default")));
  EXPECT_THAT(with({.folds = 1}), ThrowsMessage<InputError>(StrEq("[svm] folds: got 1, need at least 2; use 5")));
  EXPECT_THAT(with({.tolerance = 0}),
              ThrowsMessage<InputError>(StrEq("[svm] tolerance: got 0, need a finite number > 0; use 0.01")));
}

}  // namespace
}  // namespace tocca
