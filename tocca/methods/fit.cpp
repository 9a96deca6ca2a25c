#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/splits.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/methods/deep.h"
#include "tocca/methods/linear.h"
#include "tocca/methods/methods.h"
#include "tocca/methods/prepare.h"
#include "tocca/methods/resolve.h"

namespace tocca {
namespace {

// The parts that a fit uses; `validation` is held out of `training` when none is given.
struct Parts {
  Dataset training;
  std::optional<Dataset> validation;
};

// With whole groups held out, the rest need not have every class, or any value of a target.
void tell_what_groups_take(const Parts& parts, const Context& context) {
  for (std::size_t t = 0; t < parts.training.targets.size(); ++t) {
    if (parts.training.targets[t].known() > 0 || parts.validation->targets[t].known() == 0) continue;
    throw InputError("groups",
                     fmt::format("target '{}': all its values are of the groups that are held out; take another "
                                 "seed, or validation = 0",
                                 parts.training.targets[t].name()));
  }
  const Labels before = strata(parts.training), after = strata(*parts.validation);
  for (std::size_t c = 0; c < before.classes.size(); ++c) {
    const auto has = [&](const Labels& labels) {
      return std::find(labels.codes.begin(), labels.codes.end(), static_cast<int>(c)) != labels.codes.end();
    };
    if (has(before) || !has(after)) continue;
    context.warn(
        fmt::format("class '{}': all its samples are of the groups that are held out, so that it is not learnt",
                    before.classes[c]));
  }
  if (before.labelled() > 0 && after.labelled() == 0) {
    context.warn(
        "none of the samples in the groups that are held out is labelled, so that they cannot tell when to stop");
  }
}

Parts split(const Method& method, Dataset training, const Dataset* validation, const Options& options,
            const Context& context) {
  const bool needed = method.family == Family::deep || options.view_weights == "validation";
  if (!needed) return {std::move(training), std::nullopt};
  if (validation != nullptr) return {std::move(training), *validation};
  if (options.validation <= 0) return {std::move(training), std::nullopt};
  const Split chosen = held_out_split(training, options.validation, Rng(options.seed).split("validation"));
  Parts parts{training.select(chosen.train), training.select(chosen.test)};
  if (!training.groups.empty()) tell_what_groups_take(parts, context);
  return parts;
}

// Early fusion: one view of all columns, of the samples that have every view.
Dataset fuse(const Dataset& data) {
  if (data.views.with_every_view().empty()) {
    throw InputError("fit",
                     fmt::format("fusion = early: no sample has all {} views; take fusion = late", data.views.count()));
  }
  Dataset fused = data;
  fused.views = {data.views.samples, {concatenate(data.views, "all")}};
  return fused.select(samples_with_view(fused.views, 0));
}

Dataset prepare_data(const Dataset& data, const Method& method, const Options& options, const Context& context,
                     std::string_view what) {
  const bool early = options.fusion == "early";
  if (early && method.shared_head && method.family != Family::linear_classifier) {
    throw InputError("options", fmt::format("fusion = early: method '{}' relates views to each other; take svm, lda, "
                                            "logistic or nn",
                                            method.name));
  }
  Dataset ready = drop_incomplete(early ? fuse(data) : data, options, context, what);
  if (method.clusters) ready.labels = {};
  return ready;
}

// Takes the labels and targets from all but a share of the samples of which something is known, in each class alike.
void keep_label_fraction(Dataset& training, const Options& options) {
  if (options.label_fraction >= 1) return;
  std::vector<Index> known;
  for (Index i = 0; i < training.views.size(); ++i) {
    if (training.labelled(i)) known.push_back(i);
  }
  if (known.size() < 2) return;  // nothing is known, or nothing can be spared
  const Labels spread = strata(training);
  const Split parts =
      stratified_split(spread.codes.empty() ? spread : spread.select(known), static_cast<Index>(known.size()),
                       options.label_fraction, Rng(options.seed).split("label fraction"));
  for (const Index k : parts.train) {
    const Index sample = known[static_cast<std::size_t>(k)];
    if (!training.labels.codes.empty()) training.labels.codes[static_cast<std::size_t>(sample)] = -1;
    for (Target& target : training.targets) {
      if (target.kind == TargetKind::classification) {
        target.labels.codes[static_cast<std::size_t>(sample)] = -1;
      } else {
        target.values.row(sample).setConstant(std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
}

void fit_closed_form(FitResult& result, const Method& method, const Dataset& training, const Options& options,
                     const std::optional<JointMoments>& columns, const Context& context) {
  switch (method.family) {
    case Family::linear_cca:
      result.summary.message = fit_linear_cca(result.model, method, training, options, columns, context);
      break;
    case Family::linear_multiview:
      result.summary.message = fit_linear_multiview(result.model, method, training, options, context);
      break;
    case Family::sparse_pls:
      result.summary.message = fit_sparse_pls(result.model, training, options, context);
      break;
    default:
      add_view_classifiers(result.model, method, training, options, context);
  }
}

void fit_deep(FitResult& result, const Method& method, const Parts& parts, const Options& options,
              const Context& context) {
  if (method.final_cca) require_complete_samples(parts.training);
  result.summary = fit_network(result.model, method, parts.training, parts.validation ? &*parts.validation : nullptr,
                               options, context);
  if (method.final_cca) add_final_cca(result.model, parts.training, options, context);
  if (!result.model.has_head() && parts.training.labels.labelled() > 0) {
    add_projection_classifier(result.model, method, parts.training, options, context);
  }
}

// What comes after training has no status of its own.
void note_interruption(FitResult& result, const Context& context) {
  const bool classifies = !result.model.classifiers.empty() || result.model.joint.has_value();
  if (!classifies || !context.cancelled() || result.summary.status == TrainStatus::interrupted) return;
  result.summary.status = TrainStatus::interrupted;
  result.summary.message =
      "interrupted while the classifier was fitted; of the costs tried the best was taken; the same command fits anew";
  context.warn(result.summary.message);
}

void require_probabilities(const FittedModel& model) {
  if (!model.combination.probabilities || !model.predicts() || model.has_probabilities()) return;
  throw InputError("options", fmt::format("combination = probabilities: a linear SVM has decision values alone, and "
                                          "method '{}' predicts by one; take logistic or lda, or leave it",
                                          model.method));
}

// The weight of a view is how well it predicts the held-out samples on its own.
void add_view_weights(FittedModel& model, const Parts& parts, const Options& options, const Context& context) {
  if (options.view_weights != "validation" || model.view_count() < 2) return;
  if (model.clustering || (!model.predicts() && model.targets.empty())) {
    throw InputError("options", "view_weights = validation: there are no labels to score the views by; leave it");
  }
  if (!parts.validation) {
    throw InputError("options", "view_weights = validation: there is no validation set; hold one out with validation");
  }
  model.combination.view_weights.clear();
  for (Index v = 0; v < model.view_count(); ++v) {
    constexpr double kLeast = 1e-6;  // a view that says nothing still counts where it is the only one
    const double score = view_score(model, *parts.validation, v, context);
    model.combination.view_weights.push_back(score > kLeast ? score : kLeast);
  }
}

}  // namespace

FitResult fit(const Dataset& data, const Dataset* given_validation, const Options& options, const Context& context) {
  options.validate();
  for (const View& view : data.views.views) {
    if (view.name != "all") continue;
    throw InputError("fit", "view 'all': in results this name stands for all views together; give it another name");
  }
  if (!data.groups.empty() && static_cast<Index>(data.groups.size()) != data.views.size()) {
    throw InputError("fit", fmt::format("groups: got {}, need {}, one for each sample, or none", data.groups.size(),
                                        data.views.size()));
  }
  const Method method = resolve(options, options.fusion == "early" ? 1 : data.views.count());
  Dataset complete = prepare_data(data, method, options, context, "training");
  std::optional<Dataset> validation;
  if (given_validation != nullptr) {
    validation = prepare_data(*given_validation, method, options, context, "validation");
  }
  check_dataset(method, complete, validation ? &*validation : nullptr);
  check_task(options, complete);
  Parts parts = split(method, std::move(complete), validation ? &*validation : nullptr, options, context);
  keep_label_fraction(parts.training, options);
  check_targets(method, parts.training);  // of what is left of them
  std::optional<JointMoments> columns;
  if (method.family == Family::linear_cca) columns = joint_moments(parts.training.views, context);
  FitResult result{prepare_model(method, parts.training, options, columns, context), {}};
  FittedModel& model = result.model;
  if (options.fusion == "early") {
    for (const View& view : data.views.views) model.fused.push_back({view.name, view.features});
  }
  if (method.family == Family::deep) {
    fit_deep(result, method, parts, options, context);
  } else {
    fit_closed_form(result, method, parts.training, options, columns, context);
  }
  require_probabilities(model);
  add_view_weights(model, parts, options, context);
  if (options.prediction == "joint") add_joint_classifier(model, parts.training, context);
  note_interruption(result, context);
  finish_model(model, parts.training, result.summary, context);
  const Index held_out = parts.validation ? parts.validation->views.size() : 0;
  model.provenance.emplace_back("validation_samples", fmt::format("{}", held_out));
  return result;
}

}  // namespace tocca
