#include "tocca/metrics/retrieval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

/// From the definition, one query after the other.
Vector<double> ranks_one_by_one(ConstMatrixRef<double> q, ConstMatrixRef<double> a) {
  const Matrix<double> unit_q = q.rowwise().normalized(), unit_a = a.rowwise().normalized();
  Vector<double> ranks = Vector<double>::Ones(q.rows());
  for (Index i = 0; i < q.rows(); ++i) {
    const Vector<double> cosines = unit_a * unit_q.row(i).transpose();
    for (Index j = 0; j < a.rows(); ++j)
      if (j != i) ranks(i) += cosines(j) > cosines(i) + 1e-12 ? 1 : cosines(j) > cosines(i) - 1e-12 ? 0.5 : 0;
  }
  return ranks;
}

TEST(Retrieval, GoldenValues) {
  const testing::Golden golden("retrieval", "metrics_reference.json");
  const Matrix<double> queries = golden.matrix("queries"), answers = golden.matrix("answers");
  EXPECT_EQ(retrieval_ranks(queries, answers), golden.vector("ranks"));
  const RetrievalScores scores = retrieval_scores(queries, answers);
  EXPECT_DOUBLE_EQ(scores.recall1, golden.number("recall1"));
  EXPECT_DOUBLE_EQ(scores.recall5, golden.number("recall5"));
  EXPECT_DOUBLE_EQ(scores.recall10, golden.number("recall10"));
  EXPECT_DOUBLE_EQ(scores.median_rank, golden.number("median_rank"));
  EXPECT_DOUBLE_EQ(scores.mean_reciprocal_rank, golden.number("mean_reciprocal_rank"));
}

TEST(Retrieval, ByHand) {
  Matrix<double> queries(3, 2), answers(3, 2);
  queries << 1, 0, 0, 2, 1, 1;
  answers << 3, 0, 1, 1, 0, 1;
  // Query 0: its answer has cosine 1. Query 1: 1/√2, after answer 2. Query 2: ties with answer 0, after answer 1.
  EXPECT_EQ(retrieval_ranks(queries, answers), Vector<double>({{1, 2, 2.5}}));
  const RetrievalScores scores = retrieval_scores(queries, answers);
  EXPECT_DOUBLE_EQ(scores.recall1, 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.recall5, 1);
  EXPECT_DOUBLE_EQ(scores.median_rank, 2);
  EXPECT_DOUBLE_EQ(scores.mean_reciprocal_rank, (1 + 1 / 2.0 + 1 / 2.5) / 3);
}

TEST(Retrieval, BlocksDoNotMatter) {
  Rng rng(3);
  for (const Index n : {1, 255, 256, 257, 600}) {
    const Matrix<double> queries = random_matrix(rng, n, 7);
    Matrix<double> answers = queries + random_matrix(rng, n, 7);
    for (Index i = 0; i + 40 < n; i += 37) answers.row(i) = 3 * answers.row(n - 1 - i);  // ties, in far blocks
    EXPECT_EQ(retrieval_ranks(queries, answers), ranks_one_by_one(queries, answers)) << n;
  }
}

TEST(Retrieval, LengthsAndRotationsDoNotMatter) {
  Rng rng(6);
  const Matrix<double> queries = random_matrix(rng, 50, 5), answers = queries + random_matrix(rng, 50, 5);
  const Vector<double> lengths = random_matrix(rng, 50, 1).array().exp();
  Matrix<double> rotation = Matrix<double>::Zero(5, 5);
  for (Index j = 0; j < 5; ++j) rotation(j, (j + 2) % 5) = j % 2 == 0 ? -1 : 1;
  const Vector<double> ranks = retrieval_ranks(queries, answers);
  EXPECT_GT(ranks.maxCoeff(), 3);
  EXPECT_EQ(retrieval_ranks(lengths.asDiagonal() * queries, 1e-9 * answers), ranks);
  EXPECT_EQ(retrieval_ranks(queries * rotation, answers * rotation), ranks);
  EXPECT_EQ(retrieval_scores(queries, queries).recall1, 1);
}

TEST(Retrieval, CollapsedEmbeddingsAreAtChance) {
  const Matrix<double> point = RowVector<double>({{0.1, 0.7, -0.3}}).replicate(301, 1);
  for (const Matrix<double>& same : {point, Matrix<double>(Matrix<double>::Zero(301, 3))}) {
    EXPECT_EQ(retrieval_ranks(same, same), Vector<double>::Constant(301, 151));
    const RetrievalScores scores = retrieval_scores(same, same);
    EXPECT_EQ(scores.recall10, 0);
    EXPECT_EQ(scores.median_rank, 151);
  }
}

TEST(Retrieval, MedianOfAnEvenNumberIsTheMiddle) {
  Matrix<double> queries = Matrix<double>::Identity(2, 2), answers = Matrix<double>::Identity(2, 2);
  answers.row(1) = queries.row(0);  // each query has the same cosine to both answers
  EXPECT_EQ(retrieval_ranks(queries, answers), Vector<double>({{1.5, 1.5}}));
  answers << 1, 0, 2, 1;
  queries << 1, 0, 1, 0.1;
  EXPECT_EQ(retrieval_ranks(queries, answers), Vector<double>({{1, 2}}));
  EXPECT_DOUBLE_EQ(retrieval_scores(queries, answers).median_rank, 1.5);
}

TEST(Retrieval, NothingToRankIsNotANumber) {
  const RetrievalScores scores = retrieval_scores(Matrix<double>(0, 3), Matrix<double>(0, 3));
  EXPECT_TRUE(std::isnan(scores.recall1) && std::isnan(scores.recall5) && std::isnan(scores.recall10));
  EXPECT_TRUE(std::isnan(scores.median_rank) && std::isnan(scores.mean_reciprocal_rank));
}

TEST(Retrieval, RefusesBadInput) {
  EXPECT_THAT([] { retrieval_scores(Matrix<double>::Zero(3, 2), Matrix<double>::Zero(3, 1)); },
              ThrowsMessage<InputError>(
                  StrEq("[retrieval_ranks] shape of the answers: got 3 x 1, need 3 x 2; check what was passed")));
  Matrix<double> bad = Matrix<double>::Zero(3, 2);
  bad(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { retrieval_scores(Matrix<double>::Zero(3, 2), bad); },
              ThrowsMessage<InputError>(
                  StrEq("[retrieval_ranks] answers, row 2, column 1 (counted from 0): got nan, need a finite number; "
                        "impute it or drop the row")));
}

}  // namespace
}  // namespace tocca
