/// Linear logistic regression, for scores that are log odds.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/model/linear_classifier.h"

namespace tocca {

struct LogisticOptions {
  /// Costs tried by cross-validation; a single one is taken as it is.
  std::vector<double> costs = default_costs();
  int folds = 5;
  /// The sample of each row, where several rows may be of one: they are held out together. Empty: every row is its own.
  std::vector<Index> groups = {};
  /// Where the solver stops: the norm of the gradient relative to that at w = 0. While costs are compared, ten times
  /// that, up to 0.1.
  double tolerance = 0.01;
  static std::vector<double> default_costs();  ///< 2^-10, 2^-9, ..., 2^4

  /// Throws InputError naming the field, its value and the constraint.
  void validate() const;
};

/// L2-regularised logistic regression, one-versus-rest, with an (also regularised) bias feature of 1: each class
/// minimises ½‖w‖² + C Σ log(1 + exp(−y wᵀx)). A score is the log odds of its class against all others. Labels, the
/// choice of C, classes without samples, threads, cancelling and what is thrown are as for `fit_svm`.
///
/// Example:
///     LinearClassifier fitted = fit_logistic(z_train, y, 10, {}, Rng(1), make_context());
///     std::vector<int> classes = fitted.predict(z_test);
///
/// Primal trust-region Newton method: C.-J. Lin, R. C. Weng, S. S. Keerthi, J. Mach. Learn. Res. 9, 2008 (LIBLINEAR).
LinearClassifier fit_logistic(ConstMatrixRef<double> x, std::span<const int> y, int class_count,
                              const LogisticOptions& options, Rng rng, const Context& context);

}  // namespace tocca
