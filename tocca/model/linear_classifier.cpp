#include "tocca/model/linear_classifier.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {

Matrix<double> LinearClassifier::scores(ConstMatrixRef<double> x) const {
  if (x.cols() != weights.rows()) {
    throw InputError("classifier", "columns: got " + std::to_string(x.cols()) + ", need " +
                                       std::to_string(weights.rows()) + " as in training");
  }
  Matrix<double> result(x.rows(), weights.cols());
  multiply<double>(x, weights, result);
  result.rowwise() += bias;
  return result;
}

std::vector<int> LinearClassifier::predict(ConstMatrixRef<double> x) const { return largest_column(scores(x)); }

void apply_link(Link link, MatrixRef<double> scores) {
  if (link == Link::none) return;
  for (Index i = 0; i < scores.rows(); ++i) {
    auto row = scores.row(i);
    const auto met = [&](Index c) { return row(c) > LinearClassifier::kNeverPredicted; };
    if (link == Link::one_vs_rest) {
      // log 1 / (1 + e^-s), without overflow.
      for (Index c = 0; c < row.size(); ++c) {
        if (met(c)) row(c) = std::min(row(c), 0.0) - std::log1p(std::exp(-std::abs(row(c))));
      }
    }
    const double top = row.maxCoeff();
    double sum = 0;
    for (Index c = 0; c < row.size(); ++c) sum += met(c) ? std::exp(row(c) - top) : 0;
    for (Index c = 0; c < row.size(); ++c) {
      if (met(c)) row(c) -= top + std::log(sum);
    }
  }
}

std::vector<int> largest_column(ConstMatrixRef<double> scores) {
  std::vector<int> columns(static_cast<std::size_t>(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0;
    scores.row(i).maxCoeff(&best);
    columns[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return columns;
}

}  // namespace tocca
