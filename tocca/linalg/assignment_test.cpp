#include "tocca/linalg/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using ::testing::ElementsAre;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

double sum_of(ConstMatrixRef<double> cost, const std::vector<Index>& column_of) {
  double sum = 0;
  for (Index i = 0; i < cost.rows(); ++i)
    if (const Index j = column_of[static_cast<std::size_t>(i)]; j >= 0) sum += cost(i, j);
  return sum;
}

/// Each column at most once, and as many pairs as there can be.
void expect_one_to_one(ConstMatrixRef<double> cost, const std::vector<Index>& column_of) {
  ASSERT_EQ(static_cast<Index>(column_of.size()), cost.rows());
  std::set<Index> columns;
  for (const Index j : column_of) {
    EXPECT_LT(j, cost.cols());
    EXPECT_TRUE(j < 0 || columns.insert(j).second);
  }
  EXPECT_EQ(static_cast<Index>(columns.size()), std::min(cost.rows(), cost.cols()));
}

/// The smallest sum over all ways to put the rows of a cost with rows ≤ columns into columns.
double best_by_trying(ConstMatrixRef<double> cost) {
  std::vector<Index> order(static_cast<std::size_t>(cost.cols()));
  std::iota(order.begin(), order.end(), 0);
  double best = std::numeric_limits<double>::infinity();
  do {
    best = std::min(best, sum_of(cost, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Assignment, GoldenValues) {
  for (const char* name : {"assignment_square", "assignment_wide", "assignment_tall"}) {
    const testing::Golden golden(name, "metrics_reference.json");
    EXPECT_EQ(minimum_cost_assignment(golden.matrix("cost")), golden.get<std::vector<Index>>("column_of")) << name;
  }
}

TEST(Assignment, ByHand) {
  Matrix<double> cost(3, 3);
  cost << 1, 2, 9, 2, 9, 9, 9, 9, 3;  // the two smallest costs exclude each other's best partner
  EXPECT_THAT(minimum_cost_assignment(cost), ElementsAre(1, 0, 2));
  EXPECT_THAT(minimum_cost_assignment(cost.topRows(2)), ElementsAre(1, 0));
  EXPECT_THAT(minimum_cost_assignment(cost.col(0)), ElementsAre(0, -1, -1));
  EXPECT_THAT(minimum_cost_assignment(Matrix<double>(2, 0)), ElementsAre(-1, -1));
  EXPECT_THAT(minimum_cost_assignment(Matrix<double>(0, 2)), ElementsAre());
}

TEST(Assignment, NoOtherIsCheaper) {
  Rng rng(9);
  for (int repeat = 0; repeat < 120; ++repeat) {
    const Index columns = 1 + static_cast<Index>(rng.below(6));
    const Index rows = 1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(columns)));
    Matrix<double> cost = 3 * random_matrix(rng, rows, columns);
    if (repeat % 2 == 0) cost = cost.array().round();  // ties
    const double best = best_by_trying(cost);
    for (const Matrix<double>& turned : {cost, Matrix<double>(cost.transpose())}) {
      const std::vector<Index> found = minimum_cost_assignment(turned);
      expect_one_to_one(turned, found);
      EXPECT_NEAR(sum_of(turned, found), best, 1e-12);
    }
  }
}

TEST(Assignment, AConstantAddedToARowOrColumnDoesNotMatter) {
  Rng rng(4);
  const Matrix<double> cost = random_matrix(rng, 40, 40);
  Matrix<double> moved = cost;
  moved.colwise() += Vector<double>::LinSpaced(40, -50, 80);
  moved.rowwise() += RowVector<double>::LinSpaced(40, 90, -30);
  const std::vector<Index> found = minimum_cost_assignment(cost);
  expect_one_to_one(cost, found);
  EXPECT_EQ(minimum_cost_assignment(moved), found);
}

TEST(Assignment, FindsAHiddenPermutation) {
  Rng rng(7);
  const std::vector<Index> hidden = rng.permutation(300);
  Matrix<double> cost = random_matrix(rng, 300, 300).cwiseAbs();
  for (Index i = 0; i < 300; ++i) cost(i, hidden[static_cast<std::size_t>(i)]) = -1e-3;
  EXPECT_EQ(minimum_cost_assignment(cost), hidden);
}

TEST(Assignment, EqualCostsGiveOneAnswer) {
  const Matrix<double> same = Matrix<double>::Constant(5, 5, 2);
  EXPECT_THAT(minimum_cost_assignment(same), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(minimum_cost_assignment(same.leftCols(2)), ElementsAre(0, 1, -1, -1, -1));
}

TEST(Assignment, RefusesCostsThatAreNotFinite) {
  Matrix<double> cost = Matrix<double>::Zero(2, 3);
  cost(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { minimum_cost_assignment(cost); },
              ThrowsMessage<InputError>(
                  StrEq("[minimum_cost_assignment] cost, row 1, column 2 (counted from 0): got inf, need a finite "
                        "number; impute it or drop the row")));
}

}  // namespace
}  // namespace tocca
