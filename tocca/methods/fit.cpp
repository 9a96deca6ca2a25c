#include <fmt/format.h>

#include <optional>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/splits.h"
#include "tocca/methods/linear.h"
#include "tocca/methods/methods.h"
#include "tocca/methods/prepare.h"

namespace tocca {
namespace {

NetworkShape network_shape(const Method& method, const Dataset& training, const Options& options) {
  NetworkShape shape;
  for (const View& view : training.views.views) shape.inputs.push_back(view.columns());
  shape.hidden_layers = options.hidden_layers;
  shape.hidden_size = options.hidden_size;
  shape.components = options.n_components > 0 ? options.n_components : kDefaultComponents;
  shape.classes = method.task == Task::softmax ? training.labels.class_count() : 0;
  shape.shared_head = method.shared_head;
  shape.projection = method.projection;
  shape.decorrelated = method.decorrelation;
  shape.paired = method.agreement == Agreement::trace_norm || method.task == Task::ranking;
  shape.momentum = options.momentum;
  shape.whitening = {.epsilon = options.whitening_epsilon, .running = options.covariance == "running"};
  return shape;
}

TrainOptions train_options(const Method& method, const Options& options) {
  TrainOptions train;
  const Perturbation perturbation{
      .dropout = options.dropout, .input_dropout = options.input_dropout, .input_noise = options.input_noise};
  // Without a task there is nothing to weigh the agreement against.
  train.objective = {.task = method.task,
                     .agreement = method.agreement,
                     .agreement_weight = method.task == Task::none ? 1 : options.agreement_weight,
                     .decorrelation_weight = method.decorrelation ? options.decorrelation_weight : 0,
                     .weight_decay = options.weight_decay,
                     .perturbation = perturbation,
                     .margin = options.margin};
  if (method.pretraining) {
    train.pretrain_epochs = static_cast<int>(options.pretrain_epochs);
    train.pretraining = {.task = Task::none,
                         .agreement = Agreement::trace_norm,
                         .agreement_weight = 1,
                         .weight_decay = options.weight_decay,
                         .perturbation = perturbation,
                         .skip_cca_layer = true};
  }
  train.nadam.learning_rate = options.learning_rate;
  train.schedule = options.learning_rate_schedule == "cosine" ? Schedule::cosine : Schedule::constant;
  train.batch_size = options.batch_size;
  train.epochs = static_cast<int>(options.epochs);
  train.patience = static_cast<int>(options.patience);
  return train;
}

TrainingData training_data(const FittedModel& model, const Dataset& data) {
  return {&data, [&model, &data](Index view, std::span<const Index> samples, MatrixRef<float> out) {
            model.views[static_cast<std::size_t>(view)].standardizer.read<float>(data.views, view, samples, out);
          }};
}

TrainSummary fit_network(FittedModel& model, const Method& method, const Dataset& training, const Dataset* validation,
                         const Options& options, const Context& context) {
  const Rng rng(options.seed);
  model.network.emplace(network_shape(method, training, options));
  model.network->initialize(rng.split("weights"));
  const TrainingData train_on = training_data(model, training);
  const TrainingData validate_on = validation != nullptr ? training_data(model, *validation) : TrainingData{};
  TrainSummary summary =
      train(*model.network, train_on, validate_on, train_options(method, options), rng.split("train"), context);
  const bool interrupted = summary.status == TrainStatus::interrupted;
  if (interrupted && summary.best_epoch == 0) throw Interrupted("fit", summary.message);
  const bool diverged = summary.status == TrainStatus::diverged;
  if (diverged && summary.best_epoch == 0) throw Error("fit", summary.message);
  if (interrupted || diverged) context.warn(summary.message);
  return summary;
}

// The parts that a fit uses; `validation` is held out of `training` when none is given.
struct Parts {
  Dataset training;
  std::optional<Dataset> validation;
};

Parts split(const Method& method, Dataset training, const Dataset* validation, const Options& options,
            const Context& context) {
  if (method.family != Family::deep) return {std::move(training), std::nullopt};
  if (validation != nullptr) return {std::move(training), drop_incomplete(*validation, options, context, "validation")};
  if (options.validation <= 0) return {std::move(training), std::nullopt};
  const Split parts = stratified_split(training.labels, training.views.size(), options.validation,
                                       Rng(options.seed).split("validation"));
  return {training.select(parts.train), training.select(parts.test)};
}

}  // namespace

FitResult fit(const Dataset& data, const Dataset* given_validation, const Options& options, const Context& context) {
  options.validate();
  const Method& method = find_method(options.method);
  Dataset complete = drop_incomplete(data, options, context, "training");
  check_dataset(method, complete, given_validation);
  const Parts parts = split(method, std::move(complete), given_validation, options, context);
  FitResult result{prepare_model(method, parts.training, options, context), {}};
  switch (method.family) {
    case Family::linear_cca:
      result.summary.message = fit_linear_cca(result.model, method, parts.training, options, context);
      break;
    case Family::linear_multiview:
      result.summary.message = fit_linear_multiview(result.model, method, parts.training, options, context);
      break;
    case Family::linear_classifier:
      add_view_classifiers(result.model, method, parts.training, options, context);
      break;
    case Family::deep:
      if (method.final_cca) require_complete_samples(parts.training);
      result.summary = fit_network(result.model, method, parts.training,
                                   parts.validation ? &*parts.validation : nullptr, options, context);
      if (method.final_cca) add_final_cca(result.model, parts.training, options, context);
      if (!result.model.has_head() && parts.training.labels.labelled() > 0) {
        add_projection_classifier(result.model, method, parts.training, options, context);
      }
      break;
  }
  const bool closed_form = result.summary.status == TrainStatus::closed_form;
  if (closed_form && !result.model.classifiers.empty() && context.cancelled()) {
    result.summary.status = TrainStatus::interrupted;
    result.summary.message = "interrupted while the classifier was fitted; of the costs tried the best was taken";
    context.warn(result.summary.message);
  }
  finish_model(result.model, parts.training, result.summary, context);
  const Index held_out = parts.validation ? parts.validation->views.size() : 0;
  result.model.provenance.emplace_back("validation_samples", fmt::format("{}", held_out));
  return result;
}

}  // namespace tocca
