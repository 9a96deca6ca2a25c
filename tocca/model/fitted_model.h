/// What fitting returns and a model file holds: preprocessing, a network or linear maps, class names, provenance. It
/// never holds training rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/data/standardize.h"
#include "tocca/data/views.h"
#include "tocca/model/linear_classifier.h"
#include "tocca/model/network.h"

namespace tocca {

/// Text under a name; in order.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// What the model expects of a view.
struct ViewSchema {
  std::string name;
  std::vector<std::string> features;  ///< (d_v)
  Standardizer standardizer;
};

/// What the model knows of a target of the data it was fitted on (targets.h), in their order.
struct ModelTarget {
  TargetKind kind = TargetKind::regression;
  std::vector<std::string> columns;  ///< (t); survival: time, event
  std::vector<std::string> classes;  ///< classification
  RowVector<double> mean, scale;     ///< (t) regression: a number is mean + scale · output

  [[nodiscard]] std::string name() const;
};

/// How the predictions of several views become one.
struct Combination {
  /// Class probabilities are averaged themselves (late fusion), not their logarithms.
  bool probabilities = false;
  std::vector<double> view_weights = {};  ///< (V) ≥ 0; empty: all count the same
};

/// A view that is made of others, column beside column (early fusion).
struct FusedPart {
  std::string name;
  std::vector<std::string> features;
};

/// The linear CCA of two views' projections, fitted on training samples that have both: canonical variates are
/// (z_u − mean_u) weights_u and (z_v − mean_v) weights_v.
struct CanonicalPair {
  Index u = 0;
  Index v = 1;
  RowVector<double> mean_u, mean_v;     ///< (k)
  Matrix<double> weights_u, weights_v;  ///< (k × c)
  Vector<double> correlations;          ///< (c) on the training samples, σ, descending
};

struct FittedModel {
  std::string method;
  NamedTexts options;                     ///< every option that was in force, as text
  NamedTexts provenance;                  ///< version, sample counts, how training ended
  std::vector<ViewSchema> views;          ///< (V)
  std::vector<std::string> classes;       ///< (C); empty: fitted without labels
  std::vector<ModelTarget> targets;       ///< what else it predicts
  bool clustering = false;                ///< classes are clusters found in training
  std::string label_column;               ///< what the labels are called; empty: not known
  std::optional<Network<float>> network;  ///< deep methods
  /// Linear projections, (V) of (d_v × k): of the standardised columns x, or, after a network, of its Z less a centre.
  std::vector<Matrix<double>> weights;
  std::vector<RowVector<double>> centres;     ///< (V) of (d_o), of the linear projections after a network
  std::vector<LinearClassifier> classifiers;  ///< linear methods with labels: one for all projections, or one a view
  /// Of all columns and projections side by side, [x_1 ... x_V, z_1 ... z_V], for samples that have every view.
  std::optional<LinearClassifier> joint;
  Combination combination;
  std::vector<FusedPart> fused;      ///< early fusion: the views that the model's one view is made of
  std::vector<CanonicalPair> pairs;  ///< one for each pair of views of a shared space

  [[nodiscard]] Index view_count() const { return static_cast<Index>(views.size()); }
  /// Maps views into a shared space (all methods but svm, lda and logistic).
  [[nodiscard]] bool projects() const { return network.has_value() || !weights.empty(); }
  /// Predicts classes.
  [[nodiscard]] bool predicts() const { return has_head() || !classifiers.empty(); }
  /// Has a network that gives class probabilities itself.
  [[nodiscard]] bool has_head() const { return network && network->has_head() && network->shape.heads[0].target < 0; }
  /// The network's head for a target.
  [[nodiscard]] std::size_t head_of(std::size_t target) const { return target + (has_head() ? 1 : 0); }
  /// Class scores are log-probabilities: not with a linear SVM, which has decision values.
  [[nodiscard]] bool has_probabilities() const;
  /// All views are mapped into one space; `nn` has a space for each.
  [[nodiscard]] bool has_shared_space() const { return projects() && !(network && !network->shape.shared_head); }
  /// Width of the shared space, k.
  [[nodiscard]] Index components() const;
};

/// The views of `data` that the model knows, in the model's order, with their columns matched by name; views it lacks
/// have no samples. Columns in another order are put right; extra ones are left out, which is logged.
/// With early fusion, `data` has the parts, and the result is the model's one view, of the samples that have all parts.
/// Rows with a missing value count as absent when the model was fitted with MissingValues::drop, which is logged.
/// Throws InputError: a view is unknown to the model; columns are missing (they are named); without column names,
/// another number of columns.
Views match_views(const FittedModel& model, const Views& data, const Context& context);

/// Projections (samples.size() × k) of samples that have view `view`; `views` as match_views returns them.
/// Throws InputError if the method has no projection.
Matrix<double> transform(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples,
                         const Context& context);

/// Private components (samples.size() × p) of samples that have view `view`: what its encoder found there that other
/// views lack. Throws InputError for a model without them.
Matrix<double> private_components(const FittedModel& model, const Views& views, Index view,
                                  std::span<const Index> samples, const Context& context);

/// What a joint classifier reads, [x_1 ... x_V, z_1 ... z_V], of samples that have every view: standardised columns,
/// then projections (samples.size() × (Σ d_v + V k)).
Matrix<double> joint_rows(const FittedModel& model, const Views& views, std::span<const Index> samples,
                          const Context& context);

/// Log-probabilities of the classes (network, LDA, logistic regression), or decision values of a linear SVM,
/// (samples.size() × C). LinearClassifier::kNeverPredicted for a class that a classifier met no sample of.
/// Throws InputError if the model has no classifier.
Matrix<double> class_scores(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples,
                            const Context& context);

/// Predictions for all samples from whatever views each has: scores are averaged over the views present
/// (for a class: over those whose classifier met it in training), as model.combination says. A model with a joint
/// classifier predicts the samples that have every view by that one.
struct Prediction {
  std::vector<int> codes;  ///< (n) −1: the sample has no view
  Matrix<double> scores;   ///< (n × C) probabilities where the model has them, otherwise decision values
};
Prediction predict(const FittedModel& model, const Views& views, const Context& context);

/// What the model says of a target for samples that have view `view` (samples.size() × outputs): regression: numbers in
/// the units of the training data; survival: log hazard; multilabel: logits; classification: log-probabilities.
Matrix<double> target_scores(const FittedModel& model, std::size_t target, const Views& views, Index view,
                             std::span<const Index> samples, const Context& context);
/// The same for all samples, averaged over the views each has (weighted as model.combination says), (n × outputs), NaN
/// for a sample without a view. Multilabel: probabilities. Classification: probabilities.
Matrix<double> predict_target(const FittedModel& model, std::size_t target, const Views& views, const Context& context);

/// The samples that have a view, ascending.
std::vector<Index> samples_with_view(const Views& views, Index view);
/// The samples that have both views, ascending.
std::vector<Index> samples_with_views(const Views& views, Index u, Index v);

/// Writes and reads a model file (safetensors). load_model throws InputError when the file is not a tocca model, is cut
/// short, or comes from a later format. A loaded model transforms to the same bits.
void save_model(const FittedModel& model, const std::string& path);
FittedModel load_model(const std::string& path);

}  // namespace tocca
