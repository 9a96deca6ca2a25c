#include "tocca/methods/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/core/version.h"
#include "tocca/linalg/cca.h"
#include "tocca/methods/tasks.h"

namespace tocca {
namespace {

void check_classes(const Labels& labels) {
  std::vector<Index> counts(labels.classes.size(), 0);
  for (const int code : labels.codes) {
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  }
  const auto used = std::count_if(counts.begin(), counts.end(), [](Index n) { return n > 0; });
  if (used < 2) {
    throw InputError(
        "labels", fmt::format("classes with training samples: got {}, need at least 2 (an empty cell, NA, nan and -1 "
                              "mean unlabelled)",
                              used));
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 1) {
      throw InputError("labels",
                       fmt::format("class '{}': got 1 training sample, need at least 2; merge it with another "
                                   "class, or leave its label empty",
                                   labels.classes[c]));
    }
  }
}

// What a view that is treated alone learns from: its own samples of which something is known.
void check_labelled_samples(const Dataset& data, const View& view) {
  Index known = 0;
  for (Index i = 0; i < data.views.size(); ++i) known += view.has(i) && data.labelled(i) ? 1 : 0;
  if (known >= 2) return;
  throw InputError("fit", fmt::format("view '{}': something is known of {} of its {} samples, need at least 2 for a "
                                      "method that treats each view alone; leave the view out, or label more",
                                      view.name, known, view.present()));
}

void check_classes_of(const Dataset& data, const View& view) {
  std::set<int> classes;
  for (Index i = 0; i < data.views.size(); ++i) {
    if (view.has(i)) classes.insert(data.labels.codes[static_cast<std::size_t>(i)]);
  }
  classes.erase(-1);
  if (classes.size() >= 2) return;
  throw InputError("fit", fmt::format("view '{}': its {} samples have labels of {} classes, need at least 2 for a "
                                      "method that treats each view alone; leave the view out, or label more",
                                      view.name, view.present(), classes.size()));
}

void check_each_view(const Dataset& data) {
  for (const View& view : data.views.views) {
    data.labels.labelled() > 0 ? check_classes_of(data, view) : check_labelled_samples(data, view);
  }
}

void check_target(const Target& target) {
  if (target.kind == TargetKind::classification) {
    if (target.known() == 0)
      throw InputError("labels", fmt::format("target '{}': no sample has a value", target.name()));
    check_classes(target.labels);
    return;
  }
  for (Index c = 0; c < target.values.cols(); ++c) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    Index known = 0;
    for (Index i = 0; i < target.values.rows(); ++i) {
      if (!target.known(i) || std::isnan(target.values(i, c))) continue;
      ++known;
      least = std::min(least, target.values(i, c));
      most = std::max(most, target.values(i, c));
    }
    const std::string& column = target.columns[static_cast<std::size_t>(c)];
    if (least > most)
      throw InputError("labels", fmt::format("column '{}': no sample has a value; leave it out", column));
    if (known == 1) {
      throw InputError("labels", fmt::format("column '{}': got 1 training sample with a value, need at least 2; label "
                                             "more, or hold less out",
                                             column));
    }
    const bool event = target.kind == TargetKind::survival && c == 1;
    if (event && most == 0) {
      throw InputError("labels",
                       fmt::format("column '{}': no event among the training samples, need at least 1; all are "
                                   "censored and say nothing about the order of events",
                                   column));
    }
    if (least < most || target.kind == TargetKind::survival) continue;
    throw InputError("labels",
                     fmt::format("column '{}': all values are {}, need two that differ; leave it out", column, least));
  }
}

void check_validation(const Dataset& training, const Dataset& validation) {
  if (validation.views.count() != training.views.count()) {
    throw InputError("validation", fmt::format("views: got {}, need {} as in training", validation.views.count(),
                                               training.views.count()));
  }
  for (std::size_t v = 0; v < training.views.views.size(); ++v) {
    const View& known = training.views.views[v];
    const View& given = validation.views.views[v];
    if (given.name == known.name && given.features == known.features) continue;
    throw InputError("validation", fmt::format("view {}: got '{}' with {} columns, need '{}' with the {} columns of "
                                               "training, in their order",
                                               v, given.name, given.columns(), known.name, known.columns()));
  }
  const auto same_target = [](const Target& a, const Target& b) {
    return a.kind == b.kind && a.columns == b.columns && a.labels.classes == b.labels.classes;
  };
  if (!std::equal(training.targets.begin(), training.targets.end(), validation.targets.begin(),
                  validation.targets.end(), same_target)) {
    throw InputError("validation", "targets: got others than in training, need the same kinds, columns and classes");
  }
  if (!validation.labels.codes.empty() && validation.labels.classes != training.labels.classes) {
    throw InputError("validation",
                     fmt::format("classes: got {}, need {} as in training", join(validation.labels.classes, ", "),
                                 join(training.labels.classes, ", ")));
  }
}

void log_constant(const ViewSchema& view, const Context& context) {
  const auto& constant = view.standardizer.constant;
  if (constant.empty()) return;
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, constant.size()); ++i) {
    shown.push_back(view.features[static_cast<std::size_t>(constant[i])]);
  }
  context.info(fmt::format("view '{}': {} of {} columns are constant in training and become 0: {}{}", view.name,
                           constant.size(), view.features.size(), join(shown, ", "),
                           constant.size() > kShown ? ", ..." : ""));
}

Index labelled_samples(const Dataset& training) {
  Index count = 0;
  for (Index i = 0; i < training.views.size(); ++i) count += training.labelled(i) ? 1 : 0;
  return count;
}

CanonicalPair canonical_pair(const FittedModel& model, const Views& views, Index u, Index v,
                             const std::vector<Index>& samples, const Context& context) {
  const Matrix<double> zu = transform(model, views, u, samples, context);
  const Matrix<double> zv = transform(model, views, v, samples, context);
  const CcaSolution solution = cca(zu, zv);
  return {u, v, zu.colwise().mean(), zv.colwise().mean(), solution.weights1, solution.weights2, solution.correlations};
}

[[noreturn]] void refuse_scale(const std::string& column, std::size_t values) {
  throw InputError("labels",
                   fmt::format("column '{}': the {} values of the samples that the weights are fitted to cannot "
                               "be standardised: need two that differ, neither too large nor too small for "
                               "that (1e-150 to 1e150); give more, or rescale them",
                               column, values));
}

ModelTarget model_target(const Target& target) {
  ModelTarget known{target.kind, target.columns, target.labels.classes, {}, {}};
  if (target.kind != TargetKind::regression) return known;
  known.mean.setZero(target.values.cols());
  known.scale.setOnes(target.values.cols());
  for (Index c = 0; c < target.values.cols(); ++c) {
    std::vector<double> values;
    for (Index i = 0; i < target.values.rows(); ++i) {
      if (!std::isnan(target.values(i, c))) values.push_back(target.values(i, c));
    }
    if (values.size() < 2) refuse_scale(target.columns[static_cast<std::size_t>(c)], values.size());
    const Eigen::Map<const Vector<double>> column(values.data(), static_cast<Index>(values.size()));
    known.mean(c) = column.mean();
    known.scale(c) =
        std::sqrt((column.array() - known.mean(c)).square().sum() / static_cast<double>(column.size() - 1));
    const bool usable = known.scale(c) > 0 && std::isfinite(known.scale(c)) && std::isfinite(1 / known.scale(c));
    if (!usable) refuse_scale(target.columns[static_cast<std::size_t>(c)], values.size());
  }
  return known;
}

}  // namespace

Dataset scale_targets(const FittedModel& model, Dataset data) {
  for (std::size_t t = 0; t < data.targets.size(); ++t) {
    const ModelTarget& known = model.targets[t];
    if (known.kind != TargetKind::regression) continue;
    Matrix<double>& values = data.targets[t].values;
    values.rowwise() -= known.mean;
    values.array().rowwise() /= known.scale.array();
  }
  return data;
}

void check_targets(const Method& method, const Dataset& training) {
  if (training.targets.empty()) return;
  const std::string& first = training.targets.front().name();
  if (method.family != Family::deep || method.task == Task::none) {
    throw InputError("fit",
                     fmt::format("method '{}' learns class labels alone: got target '{}' ({}); take tocca-w or nn",
                                 method.name, first, name_of(training.targets.front().kind)));
  }
  if (method.task != Task::heads || method.clusters) {
    throw InputError("fit", fmt::format("target '{}': this task has no head for it; take task auto", first));
  }
  for (const Target& target : training.targets) {
    if (target.size() != training.views.size()) {
      throw InputError("labels", fmt::format("target '{}': got values of {} samples, need {}", target.name(),
                                             target.size(), training.views.size()));
    }
    const bool named =
        target.kind == TargetKind::classification || target.values.cols() == static_cast<Index>(target.columns.size());
    if (!named || target.columns.empty() || (target.kind == TargetKind::survival && target.columns.size() != 2)) {
      throw InputError("labels", fmt::format("target '{}': got {} columns of values, need one for each name, and for "
                                             "survival a time and an event",
                                             target.name(), target.values.cols()));
    }
    check_target(target);
  }
}

void check_dataset(const Method& method, const Dataset& training, const Dataset* validation) {
  const Index views = training.views.count();
  const bool fits = views >= method.least_views && (method.most_views == 0 || views <= method.most_views);
  if (!fits) {
    const std::string need = method.most_views == method.least_views ? fmt::format("{}", method.least_views)
                                                                     : fmt::format("at least {}", method.least_views);
    throw InputError(
        "fit", fmt::format("method '{}': got {} view{}, need {}", method.name, views, views == 1 ? "" : "s", need));
  }
  const bool labelled = training.labels.labelled() > 0;
  check_targets(method, training);
  if (method.needs_labels && !labelled && training.targets.empty()) {
    throw InputError("fit", fmt::format("method '{}' needs labels: got none; give --labels FILE:COLUMN, or take an "
                                        "unsupervised method (rcca, mcca, dcca)",
                                        method.name));
  }
  if (labelled) check_classes(training.labels);
  const bool each_alone = method.family == Family::linear_classifier || !method.shared_head;
  if (each_alone && method.needs_labels) check_each_view(training);
  if (validation != nullptr) check_validation(training, *validation);
}

void check_task(const Options& options, const Dataset& training) {
  if (options.task == "auto") return;
  const TaskRow& task = find_task(options.task);
  if (!task.labels) return;
  const auto serves = [&](const Target& target) { return target.kind == *task.labels; };
  const bool classes = *task.labels == TargetKind::classification && training.labels.labelled() > 0;
  if (classes || std::any_of(training.targets.begin(), training.targets.end(), serves)) return;
  throw InputError("fit", fmt::format("task '{}': the data have no {} target; give one", task.name, task.name));
}

Dataset drop_incomplete(const Dataset& data, const Options& options, const Context& context, std::string_view what) {
  const MissingValues policy = parse_missing_values(options.missing);
  if (policy != MissingValues::drop) return data;
  const auto complete = complete_samples(data.views, policy);
  const Index dropped = data.views.size() - static_cast<Index>(complete.size());
  if (dropped == 0) return data;
  if (complete.empty()) {
    throw InputError("fit", fmt::format("missing = drop: all {} {} samples have missing values; leave out the columns "
                                        "that have them, or fit with --missing mean",
                                        data.views.size(), what));
  }
  context.warn(
      fmt::format("{} of {} {} samples have missing values and are dropped", dropped, data.views.size(), what));
  return data.select(complete);
}

FittedModel prepare_model(const Method& method, const Dataset& training, const Options& options,
                          const std::optional<JointMoments>& columns, const Context& context) {
  FittedModel model;
  model.method = std::string(method.name);
  model.options = option_texts(options);
  // Results do not depend on it, so neither does the file.
  std::erase_if(model.options, [](const auto& option) { return option.first == "threads"; });
  if (training.labels.labelled() > 0) model.classes = training.labels.classes;
  model.clustering = method.clusters;
  for (Index c = 0; method.clusters && c < options.clusters; ++c) model.classes.push_back(fmt::format("cluster{}", c));
  for (const Target& target : training.targets) model.targets.push_back(model_target(target));
  model.combination.probabilities = options.combination == "probabilities";
  const Standardize mode = parse_standardize(options.standardize);
  const MissingValues missing = parse_missing_values(options.missing);
  Index first = 0;
  for (Index v = 0; v < training.views.count(); ++v) {
    const View& view = training.views.views[static_cast<std::size_t>(v)];
    ViewSchema schema{view.name, view.features, {}};
    schema.standardizer = columns ? standardizer_of(column_moments_of(*columns, first, view.columns()), mode, missing)
                                  : fit_standardizer(training.views, v, mode, missing, context);
    first += view.columns();
    if (static_cast<Index>(schema.standardizer.constant.size()) == view.columns()) {
      throw InputError("fit", fmt::format("view '{}': all {} columns are constant; there is nothing to learn from",
                                          view.name, view.columns()));
    }
    log_constant(schema, context);
    model.views.push_back(std::move(schema));
  }
  return model;
}

void finish_model(FittedModel& model, const Dataset& training, const TrainSummary& summary, const Context& context) {
  const bool wanted = model.has_shared_space() && model.pairs.empty();
  for (Index u = 0; wanted && u < model.view_count(); ++u) {
    for (Index v = u + 1; v < model.view_count(); ++v) {
      const auto samples = samples_with_views(training.views, u, v);
      if (samples.size() < 3) continue;
      try {
        model.pairs.push_back(canonical_pair(model, training.views, u, v, samples, context));
      } catch (const Error& error) {  // projections out of range: the model still predicts
        context.warn(fmt::format("no canonical correlations: {}", error.what()));
      }
    }
  }
  model.provenance = {{"version", std::string(version())},
                      {"training_samples", fmt::format("{}", training.views.size())},
                      {"labelled_samples", fmt::format("{}", labelled_samples(training))},
                      {"status", std::string(name_of(summary.status))},
                      {"message", summary.message},
                      {"epochs", fmt::format("{}", summary.epochs)},
                      {"best_epoch", fmt::format("{}", summary.best_epoch)}};
}

}  // namespace tocca
