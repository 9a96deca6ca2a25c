/// The methods in closed form: linear CCA of two and more views, and linear classifiers.
#pragma once

#include "tocca/methods/joint_moments.h"
#include "tocca/methods/methods.h"

namespace tocca {

/// Adds W₁, W₂ to the model from the samples that have both views, and with labels a classifier on all projections.
/// `columns` are the moments of the columns as they are, where they have been gathered: then, and with more samples
/// than columns, the canonical correlations are added as well. Returns what was noteworthy (a reduced number of
/// components), empty if nothing.
std::string fit_linear_cca(FittedModel& model, const Method& method, const Dataset& training, const Options& options,
                           const std::optional<JointMoments>& columns, const Context& context);

/// Adds W_v of every view by method.solve from the samples that have all views, and with labels a linear SVM on all
/// projections. Returns what was noteworthy, empty if nothing.
std::string fit_linear_multiview(FittedModel& model, const Method& method, const Dataset& training,
                                 const Options& options, const Context& context);

/// Adds W_v and a classifier of each view's variates from the labelled samples that have all views (sparse_pls.h), and
/// weights the views by how their variates go with the classes, as DIABLO's weighted prediction does. Returns what was
/// noteworthy, empty if nothing.
std::string fit_sparse_pls(FittedModel& model, const Dataset& training, const Options& options, const Context& context);

/// Adds LDA of [x_1 ... x_V, z_1 ... z_V] from the labelled samples that have all views. Throws InputError for a model
/// without projections, and without labels.
void add_joint_classifier(FittedModel& model, const Dataset& training, const Context& context);

/// Replaces the projections Z of a model with a network by those of a linear CCA of them (mcca, with
/// options.whitening_epsilon as the ridge), from the samples that have all views.
void add_final_cca(FittedModel& model, const Dataset& training, const Options& options, const Context& context);

/// Throws InputError unless at least three samples have all views, which fitting a linear CCA of them needs.
void require_complete_samples(const Dataset& training);

/// Adds method.classifier on the projections of all views of the labelled samples, or one on those of each view where
/// they are in spaces of their own (nn).
void add_projection_classifier(FittedModel& model, const Method& method, const Dataset& training,
                               const Options& options, const Context& context);

/// Adds method.classifier for each view, fitted on its standardised columns.
void add_view_classifiers(FittedModel& model, const Method& method, const Dataset& training, const Options& options,
                          const Context& context);

}  // namespace tocca
