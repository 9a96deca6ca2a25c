/// The methods that train a network: from a recipe and options to its shape, its losses and how it is trained.
#pragma once

#include "tocca/methods/methods.h"

namespace tocca {

/// Adds a network to the model, whose views have their standardizers, and trains it; with `validation` (may be null)
/// the weights of the best epoch are kept. A method that learns from labels alone is trained on the labelled samples.
/// Throws InputError for options that do not fit the data, Interrupted before an epoch was finished, and Error where
/// training diverged before that.
TrainSummary fit_network(FittedModel& model, const Method& method, const Dataset& training, const Dataset* validation,
                         const Options& options, const Context& context);

}  // namespace tocca
