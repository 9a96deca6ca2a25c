/// One-versus-rest linear classifiers through LIBLINEAR, with their cost chosen by cross-validation: what the linear
/// SVM and logistic regression have in common.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/model/linear_classifier.h"

namespace tocca::detail {

/// What C multiplies, of the margin m = y wᵀx.
enum class MarginLoss {
  squared_hinge,  ///< max(0, 1 − m)²
  logistic,       ///< log(1 + exp(−m))
};

/// 2^-10, 2^-9, ..., 2^4
std::vector<double> powers_of_two();

struct CostSearch {
  std::string_view name;  ///< of the caller, in messages
  MarginLoss loss = MarginLoss::squared_hinge;
  std::vector<double> costs = {};
  int folds = 5;
  std::vector<Index> groups = {};
  double tolerance = 0.01;

  /// Throws InputError naming the field, its value and the constraint.
  void validate() const;
};

/// Each class minimises ½‖w‖² + C Σ loss(y wᵀx), with an (also regularised) bias feature of 1. The search, the
/// arguments and what is thrown are described at `fit_svm`.
LinearClassifier fit_one_versus_rest(ConstMatrixRef<double> x, std::span<const int> y, int class_count,
                                     const CostSearch& search, Rng rng, const Context& context);

}  // namespace tocca::detail
