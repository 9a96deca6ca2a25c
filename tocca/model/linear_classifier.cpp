#include "tocca/model/linear_classifier.h"

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
