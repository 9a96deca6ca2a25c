/// The linear support vector machine that the cross-view protocol scores projections with.
#pragma once

#include <span>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/evaluate/cost_search.h"
#include "tocca/model/linear_classifier.h"

namespace tocca {

using SvmOptions = CostOptions;

/// L2-regularised squared-hinge loss, one-versus-rest, with an (also regularised) bias feature of 1: each class
/// minimises ½‖w‖² + C Σ max(0, 1 − y wᵀx)². Fitted on rows with y ≥ 0; the cost is chosen by stratified k-fold
/// accuracy (the smaller one on ties), then all labelled rows are used. k is lowered to the size of the smallest class
/// (in groups) where that is less; with a class of one sample or group nothing can be held out, and C = 1 is taken with
/// a warning. Classes without samples are never predicted: their bias is the lowest number. x (n × d), y (n) in −1 ...
/// class_count − 1.
///
/// Same seed, same result, for any number of threads. When the context is cancelled the search stops and the best cost
/// so far is used. Throws InputError for fewer than two classes with samples, sizes that differ, a class out of range,
/// and entries of labelled rows that are not finite.
///
/// Example:
///     LinearClassifier svm = fit_svm(z1_train, y, 10, {}, Rng(1), make_context());
///     double score = accuracy(svm.predict(z2_test), y_test);
///
/// Primal trust-region Newton method: C.-J. Lin, R. C. Weng, S. S. Keerthi, J. Mach. Learn. Res. 9, 2008 (LIBLINEAR).
LinearClassifier fit_svm(ConstMatrixRef<double> x, std::span<const int> y, int class_count, const SvmOptions& options,
                         Rng rng, const Context& context);

}  // namespace tocca
