#include "tocca/methods/deep.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/data/fingerprint.h"
#include "tocca/data/image_shift.h"
#include "tocca/methods/prepare.h"
#include "tocca/methods/resolve.h"

namespace tocca {
namespace {

std::vector<HeadShape> heads_of(const Method& method, const Dataset& training, const Options& options) {
  if (method.task != Task::heads) return {};
  if (method.clusters) return class_heads(options.clusters);
  std::vector<HeadShape> heads = class_heads(training.labels.labelled() > 0 ? training.labels.class_count() : 0);
  for (std::size_t t = 0; t < training.targets.size(); ++t) {
    const Target& target = training.targets[t];
    const Index outputs = outputs_for(target.kind, target.columns.size(), target.labels.classes.size());
    heads.push_back({target.kind, outputs, static_cast<int>(t)});
  }
  return heads;
}

NetworkShape network_shape(const Method& method, const Dataset& training, const Options& options) {
  NetworkShape shape;
  for (const View& view : training.views.views) shape.inputs.push_back(view.columns());
  shape.hidden_layers = options.hidden_layers;
  shape.hidden_size = options.hidden_size;
  shape.components = options.n_components > 0 ? options.n_components : kDefaultComponents;
  shape.heads = heads_of(method, training, options);
  shape.shared_head = method.shared_head;
  shape.projection = method.projection;
  shape.decorrelated = method.decorrelation;
  shape.reconstructs = method.reconstruction;
  shape.private_components = options.private_components;
  shape.paired = method.agreement == Agreement::trace_norm || method.task == Task::ranking || method.pretraining;
  shape.momentum = options.momentum;
  shape.whitening = {.epsilon = options.whitening_epsilon, .running = options.covariance == "running"};
  return shape;
}

// The last layer of an encoder is linear: it has no more directions than what comes into it.
void warn_of_idle_components(const NetworkShape& shape, const Options& options, const Context& context) {
  const Index least = *std::min_element(shape.inputs.begin(), shape.inputs.end());
  const Index most = shape.hidden_layers > 0 ? shape.hidden_size : least;
  if (options.n_components <= most) return;
  context.warn(fmt::format("n_components: got {}, but what it is computed from has {} {}: the others only cost time",
                           options.n_components, most,
                           shape.hidden_layers > 0 ? "hidden units (hidden_size)" : "columns"));
}

// n / (C n_c), so that each class counts the same.
RowVector<double> balanced_weights(const Labels& labels) {
  RowVector<double> counts = RowVector<double>::Zero(labels.class_count());
  for (const int code : labels.codes) {
    if (code >= 0) counts(code) += 1;
  }
  const double share = counts.sum() / static_cast<double>(counts.size());
  return (counts.array() > 0).select(share / counts.array(), 0.0);
}

std::vector<HeadLossOptions> head_options(const NetworkShape& shape, const Method& method, const Dataset& training,
                                          const Options& options) {
  std::vector<HeadLossOptions> all;
  for (const HeadShape& head : shape.heads) {
    HeadLossOptions own{{}, options.ties == "breslow" ? CoxTies::breslow : CoxTies::efron};
    own.softmax.label_smoothing = options.label_smoothing;
    const bool balanced = options.class_weights == "balanced" && head.kind == TargetKind::classification;
    if (balanced && !method.clusters) {
      own.softmax.class_weights = balanced_weights(
          head.target < 0 ? training.labels : training.targets[static_cast<std::size_t>(head.target)].labels);
    }
    all.push_back(own);
  }
  return all;
}

std::vector<double> head_weights(const NetworkShape& shape, const Options& options) {
  const std::vector<double> weights = parse_numbers("task_weights", options.task_weights, 0);
  if (weights.empty() || weights.size() == shape.heads.size()) return weights;
  throw InputError("options", fmt::format("task_weights: got {} numbers, need one for each of {} tasks", weights.size(),
                                          shape.heads.size()));
}

TrainOptions train_options(const Method& method, const NetworkShape& shape, const Dataset& training,
                           const Options& options) {
  TrainOptions train;
  const Perturbation perturbation{
      .dropout = options.dropout, .input_dropout = options.input_dropout, .input_noise = options.input_noise};
  // Without a task there is nothing to weigh the agreement against.
  train.objective = {.task = method.task,
                     .agreement = method.agreement,
                     .agreement_weight = method.task == Task::none ? 1 : options.agreement_weight,
                     .decorrelation_weight = method.decorrelation ? options.decorrelation_weight : 0,
                     .reconstruction_weight = options.reconstruction_weight,
                     .private_weight = options.private_weight,
                     .weight_decay = options.weight_decay,
                     .perturbation = perturbation,
                     .cca_basis = options.cca_basis == "aligned" ? CcaBasis::aligned : CcaBasis::canonical,
                     .margin = options.margin,
                     .head_weights = head_weights(shape, options),
                     .head_options = head_options(shape, method, training, options)};
  if (method.pretraining) {
    train.pretrain_epochs = static_cast<int>(options.pretrain_epochs);
    train.pretraining = {.task = Task::none,
                         .agreement = Agreement::trace_norm,
                         .agreement_weight = 1,
                         .reconstruction_weight = options.reconstruction_weight,
                         .private_weight = options.private_weight,
                         .weight_decay = options.weight_decay,
                         .perturbation = perturbation,
                         .skip_cca_layer = true};
  }
  train.nadam.learning_rate = options.learning_rate;
  train.schedule = options.learning_rate_schedule == "cosine" ? Schedule::cosine : Schedule::constant;
  train.batch_size = options.batch_size;
  train.epochs = static_cast<int>(options.epochs);
  train.patience = static_cast<int>(options.patience);
  train.stratified_batches = options.batches == "stratified";
  train.view_dropout = options.view_dropout;
  train.mixup = options.mixup;
  train.clusters = method.clusters ? options.clusters : 0;
  return train;
}

TrainingData training_data(const FittedModel& model, const Dataset& data) {
  return {&data, [&model, &data](Index view, std::span<const Index> samples, Index first, MatrixRef<float> out) {
            model.views[static_cast<std::size_t>(view)].standardizer.read<float>(data.views, view, samples, first, out);
          }};
}

// Pictures are shifted where options say so. Throws InputError where columns are not rows of that many pixels.
void add_augmentation(TrainingData& data, const FittedModel& model, const Options& options) {
  if (options.image_shift == 0) return;
  for (const ViewSchema& view : model.views) {
    const auto columns = static_cast<Index>(view.features.size());
    if (options.image_width > 0 && columns % options.image_width == 0) continue;
    throw InputError("options",
                     fmt::format("image_width: got {}, need the pixels in a row of the pictures, a divisor of "
                                 "the {} columns of view '{}'",
                                 options.image_width, columns, view.name));
  }
  data.augment = [&model, &options](Index view, std::span<const Index> samples, MatrixRef<float> rows, const Rng& rng) {
    shift_images<float>(model.views[static_cast<std::size_t>(view)].standardizer, options.image_width,
                        options.image_shift, samples, rng, rows);
  };
}

// Columns enter by their means and scales in training; samples as in add_samples.
std::string fingerprint(const FittedModel& model, const Dataset& training, const Dataset* validation) {
  Fingerprint print;
  for (const auto& [name, value] : model.options) print.add(name + "=" + value);
  for (const ViewSchema& view : model.views) {
    print.add(view.name);
    for (const std::string& feature : view.features) print.add(feature);
    print.add_numbers(view.standardizer.mean);
    print.add_numbers(view.standardizer.scale);
  }
  for (const Dataset* data : {&training, validation}) {
    if (data != nullptr) add_samples(print, *data);
  }
  return print.text();
}

// Samples of which nothing is known would only make the others' share of the batches smaller where nothing learns from
// them.
Dataset learnt_from(const Method& method, Dataset training) {
  const bool from_labels = (method.task == Task::heads || method.task == Task::lda) && !method.clusters;
  const bool from_all = method.agreement != Agreement::none || method.decorrelation || method.pretraining ||
                        method.projection != Projection::identity || method.reconstruction;
  if (!from_labels || from_all) return training;
  std::vector<Index> known;
  for (Index i = 0; i < training.views.size(); ++i) {
    if (training.labelled(i)) known.push_back(i);
  }
  if (static_cast<Index>(known.size()) == training.views.size()) return training;
  training = training.select(known);
  for (const View& view : training.views.views) {
    if (view.present() >= 2) continue;
    throw InputError("fit", fmt::format("view '{}': got {} training samples that are labelled, need 2; hold less out, "
                                        "leave the view away, or take a method that learns from the others, too",
                                        view.name, view.present()));
  }
  return training;
}

}  // namespace

TrainSummary fit_network(FittedModel& model, const Method& method, const Dataset& training, const Dataset* validation,
                         const Options& options, const Context& context) {
  const Rng rng(options.seed);
  model.network.emplace(network_shape(method, training, options));
  warn_of_idle_components(model.network->shape, options, context);
  model.network->initialize(rng.split("weights"));
  const Dataset scaled = learnt_from(method, scale_targets(model, training));
  const Dataset scaled_validation = validation != nullptr ? scale_targets(model, *validation) : Dataset{};
  TrainingData train_on = training_data(model, scaled);
  add_augmentation(train_on, model, options);
  const TrainingData validate_on = validation != nullptr ? training_data(model, scaled_validation) : TrainingData{};
  TrainOptions how = train_options(method, model.network->shape, training, options);
  if (!context.checkpoint.empty()) {
    how.checkpoint = {.path = context.checkpoint, .fingerprint = fingerprint(model, training, validation)};
  }
  TrainSummary summary = train(*model.network, train_on, validate_on, how, rng.split("train"), context);
  const bool interrupted = summary.status == TrainStatus::interrupted;
  if (interrupted && summary.best_epoch == 0) throw Interrupted("fit", summary.message);
  const bool diverged = summary.status == TrainStatus::diverged;
  if (diverged && summary.best_epoch == 0) throw Error("fit", summary.message);
  if (interrupted || diverged) context.warn(summary.message);
  return summary;
}

}  // namespace tocca
