/// The methods in closed form: CCA, ridge CCA and the linear SVM.
#pragma once

#include "tocca/methods/methods.h"

namespace tocca {

/// Adds W₁, W₂ to the model from the samples that have both views, and with labels a linear SVM on all projections.
/// Returns what was noteworthy (a reduced number of components), empty if nothing.
std::string fit_linear_cca(FittedModel& model, const Method& method, const Dataset& training, const Options& options,
                           const Context& context);

/// Adds one linear SVM a view, fitted on its standardised columns.
void fit_linear_svm(FittedModel& model, const Dataset& training, const Options& options, const Context& context);

}  // namespace tocca
