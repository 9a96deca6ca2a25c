/// The linear support vector machine that the cross-view protocol scores projections with.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"

namespace tocca {

/// One-versus-rest linear classifier: scores = x W + b.
struct LinearClassifier {
  Matrix<double> weights;  ///< (d × C)
  RowVector<double> bias;  ///< (C)
  double cost = 0;         ///< the C that was chosen

  /// (n × C)
  [[nodiscard]] Matrix<double> scores(ConstMatrixRef<double> x) const;
  /// Class of the highest score; the lower class number on ties. (n)
  [[nodiscard]] std::vector<int> predict(ConstMatrixRef<double> x) const;
};

struct SvmOptions {
  /// Costs tried by cross-validation; a single one is taken as it is.
  std::vector<double> costs = default_costs();
  int folds = 5;
  double tolerance = 0.01;
  static std::vector<double> default_costs();  ///< 2^-10, 2^-9, ..., 2^4
};

/// L2-regularised squared-hinge loss, one-versus-rest, with an (also regularised) bias feature of 1. Fitted on rows
/// with y ≥ 0; the cost is chosen by stratified k-fold accuracy (the smaller one on ties), then all rows are used. k is
/// lowered to the size of the smallest class where that is less (with 1: the smallest cost above 2^-10 is not searched,
/// C = 1). x (n × d), y (n) in −1 ... class_count − 1. Same seed, same result, for any number of threads. Throws
/// InputError for fewer than two classes with samples, or sizes that differ.
LinearClassifier fit_svm(ConstMatrixRef<double> x, std::span<const int> y, int class_count, const SvmOptions& options,
                         Rng rng, const Context& context);

}  // namespace tocca
