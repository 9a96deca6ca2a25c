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

namespace tocca {

/// How C is chosen, and when the solver stops.
struct CostOptions {
  /// Costs tried by cross-validation; a single one is taken as it is.
  std::vector<double> costs = default_costs();
  int folds = 5;
  /// Rows of equal number (the views of a sample, the samples of a patient) are held out together. Empty: every row is
  /// its own.
  std::vector<Index> groups = {};
  /// Where the solver stops: the norm of the gradient relative to that at w = 0. While costs are compared, ten times
  /// that, up to 0.1.
  double tolerance = 0.01;
  static std::vector<double> default_costs();  ///< 2^-10, 2^-9, ..., 2^4

  /// Throws InputError with `where`, the field, its value and the constraint.
  void validate(std::string_view where) const;
};

namespace detail {

/// What C multiplies, of the margin m = y wᵀx.
enum class MarginLoss {
  squared_hinge,  ///< max(0, 1 − m)²
  logistic,       ///< log(1 + exp(−m))
};

/// Each class minimises ½‖w‖² + C Σ loss(y wᵀx), with an (also regularised) bias feature of 1. `name` is the caller's,
/// in messages; the search, the arguments and what is thrown are described at `fit_svm`.
LinearClassifier fit_one_versus_rest(std::string_view name, MarginLoss loss, ConstMatrixRef<double> x,
                                     std::span<const int> y, int class_count, const CostOptions& options, Rng rng,
                                     const Context& context);

}  // namespace detail

}  // namespace tocca
