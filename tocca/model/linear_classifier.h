/// A linear classifier with one score a class, as the linear SVM, logistic regression and LDA make it.
#pragma once

#include <limits>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// scores = x W + b.
struct LinearClassifier {
  /// Bias, and so score, of a class without samples in training.
  static constexpr double kNeverPredicted = std::numeric_limits<double>::lowest();

  Matrix<double> weights;  ///< (d × C)
  RowVector<double> bias;  ///< (C)
  double cost = 0;         ///< the C that was chosen; 0 where there is none

  /// (n × C)
  [[nodiscard]] Matrix<double> scores(ConstMatrixRef<double> x) const;
  /// Class of the highest score; the lower class number on ties. (n)
  [[nodiscard]] std::vector<int> predict(ConstMatrixRef<double> x) const;
};

/// The column of the largest entry of each row, the first one on ties. (n)
std::vector<int> largest_column(ConstMatrixRef<double> scores);

}  // namespace tocca
