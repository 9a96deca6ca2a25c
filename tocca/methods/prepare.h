/// What every method does before it fits: checks, samples to use, preprocessing.
#pragma once

#include "tocca/methods/joint_moments.h"
#include "tocca/methods/methods.h"

namespace tocca {

/// Throws InputError when the data cannot serve the method: labels, number of views, classes.
void check_dataset(const Method& method, const Dataset& training, const Dataset* validation);

/// Throws InputError for targets that the method cannot learn, or that have too few values, no event, or one value
/// only.
void check_targets(const Method& method, const Dataset& training);

/// Throws InputError when nothing in the data is what options.task predicts.
void check_task(const Options& options, const Dataset& training);

/// Samples without missing values where `drop` is asked for (told in the log); otherwise the data as they are.
Dataset drop_incomplete(const Dataset& data, const Options& options, const Context& context, std::string_view what);

/// The numbers of regression targets as the network learns them: less their mean, divided by their deviation.
Dataset scale_targets(const FittedModel& model, Dataset data);

/// Model with method, options, views and classes filled in; standardisers fitted on `training`, constant columns
/// logged. `columns` spare the pass over the data where they have been gathered. Throws InputError for a view without
/// any varying column.
FittedModel prepare_model(const Method& method, const Dataset& training, const Options& options,
                          const std::optional<JointMoments>& columns, const Context& context);

/// Adds the linear CCA of each pair of views' projections of the training samples, unless the fit has, and notes the
/// counts.
void finish_model(FittedModel& model, const Dataset& training, const TrainSummary& summary, const Context& context);

}  // namespace tocca
