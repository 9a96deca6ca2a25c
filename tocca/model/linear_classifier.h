/// A linear classifier with one score a class, as the linear SVM, logistic regression and LDA make it.
#pragma once

#include <limits>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// What scores become probabilities by.
enum class Link {
  none,         ///< they do not (linear SVM)
  softmax,      ///< log posteriors up to a number that is the same for all classes (LDA)
  one_vs_rest,  ///< a logit for each class against the others, made to sum to 1 (logistic regression)
};

/// scores = x W + b.
struct LinearClassifier {
  /// Bias, and so score, of a class without samples in training.
  static constexpr double kNeverPredicted = std::numeric_limits<double>::lowest();

  Matrix<double> weights;  ///< (d × C)
  RowVector<double> bias;  ///< (C)
  double cost = 0;         ///< the C that was chosen; 0 where there is none
  Link link = Link::none;

  /// (n × C)
  [[nodiscard]] Matrix<double> scores(ConstMatrixRef<double> x) const;
  /// Class of the highest score; the lower class number on ties. (n)
  [[nodiscard]] std::vector<int> predict(ConstMatrixRef<double> x) const;
};

/// Scores (n × C) ← log-probabilities, as the link says; kNeverPredicted stays.
void apply_link(Link link, MatrixRef<double> scores);

/// The column of the largest entry of each row, the first one on ties. (n)
std::vector<int> largest_column(ConstMatrixRef<double> scores);

}  // namespace tocca
