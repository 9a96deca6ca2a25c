/// Linear logistic regression, for scores that are log odds.
#pragma once

#include <span>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/evaluate/cost_search.h"
#include "tocca/model/linear_classifier.h"

namespace tocca {

using LogisticOptions = CostOptions;

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
