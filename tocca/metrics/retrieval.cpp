#include "tocca/metrics/retrieval.h"

#include <algorithm>
#include <limits>

#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"

namespace tocca {
namespace {

constexpr double kNoDirection = 1e-12;
constexpr double kTie = 1e-12;
constexpr Index kBlock = 256;  // rows whose cosines are held at once: 512 KiB

Matrix<double> directions(ConstMatrixRef<double> x) {
  Matrix<double> unit = x;
  for (Index i = 0; i < x.rows(); ++i) {
    const double length = x.row(i).stableNorm();
    if (length < kNoDirection)
      unit.row(i).setZero();
    else
      unit.row(i) /= length;
  }
  return unit;
}

double share_up_to(const Vector<double>& ranks, double most) { return (ranks.array() <= most).cast<double>().mean(); }

double median(Vector<double> values) {
  std::sort(values.begin(), values.end());
  const Index n = values.size();
  return (values((n - 1) / 2) + values(n / 2)) / 2;
}

}  // namespace

Vector<double> retrieval_ranks(ConstMatrixRef<double> queries, ConstMatrixRef<double> answers) {
  constexpr const char* kWhere = "retrieval_ranks";
  detail::require_shape(kWhere, "the answers", answers, queries.rows(), queries.cols());
  detail::require_finite(kWhere, "queries", queries);
  detail::require_finite(kWhere, "answers", answers);
  const Matrix<double> q = directions(queries), a = directions(answers);
  const Vector<double> right = q.cwiseProduct(a).rowwise().sum();
  const Index n = q.rows();
  Vector<double> ranks = Vector<double>::Ones(n);
  Matrix<double> block(std::min(kBlock, n), std::min(kBlock, n));
  for (Index first = 0; first < n; first += kBlock) {
    const Index asked = std::min(kBlock, n - first);
    for (Index start = 0; start < n; start += kBlock) {
      const Index offered = std::min(kBlock, n - start);
      auto cosines = block.topLeftCorner(asked, offered);
      multiply_a_bt<double>(q.middleRows(first, asked), a.middleRows(start, offered), cosines);
      if (start == first) cosines.diagonal().setConstant(-2);  // the right answer itself is neither before nor tied
      for (Index i = 0; i < asked; ++i) {
        const double own = right(first + i);
        // Half for each of: not below by more than a tie, above by more than a tie.
        const auto row = cosines.row(i).array();
        ranks(first + i) += static_cast<double>((row >= own - kTie).count() + (row > own + kTie).count()) / 2;
      }
    }
  }
  return ranks;
}

RetrievalScores retrieval_scores(ConstMatrixRef<double> queries, ConstMatrixRef<double> answers) {
  const Vector<double> ranks = retrieval_ranks(queries, answers);
  if (ranks.size() == 0) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN, kNaN, kNaN, kNaN};
  }
  return {.recall1 = share_up_to(ranks, 1),
          .recall5 = share_up_to(ranks, 5),
          .recall10 = share_up_to(ranks, 10),
          .median_rank = median(ranks),
          .mean_reciprocal_rank = ranks.cwiseInverse().mean()};
}

}  // namespace tocca
