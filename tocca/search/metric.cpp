#include "tocca/search/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/metrics/mean.h"

namespace tocca {
namespace {

constexpr std::string_view kCrossView = "cross_view_accuracy";

constexpr auto kClasses = TargetKind::classification;

constexpr MetricRow kMetrics[] = {
    {"accuracy", "share of the samples whose class is predicted", kClasses},
    {"balanced_accuracy", "mean over the classes of that share", kClasses},
    {"macro_f1", "mean over the classes of F1", kClasses},
    {kCrossView, "accuracy of a linear SVM learnt on one view's projections and tested on another's", kClasses},
    {"r_squared", "explained share of the variance", TargetKind::regression},
    {"rmse", "root mean squared error", TargetKind::regression, true},
    {"concordance", "share of pairs whose survival times are ordered right", TargetKind::survival},
    {"auc", "area under the ROC curve, mean over the properties", TargetKind::multilabel},
    {"average_precision", "area under the precision-recall curve, mean over the properties", TargetKind::multilabel},
    {"nmi", "normalised mutual information of clusters and classes", kClasses},
    {"ari", "adjusted Rand index of clusters and classes", kClasses},
    {"clustering_accuracy", "accuracy of the best assignment of clusters to classes", kClasses},
    {"sum_correlation", "sum of the canonical correlations, mean over pairs of views", {}, false, true},
    {"recall_at_1", "share of the samples found first in another view", {}, false, true, true},
    {"recall_at_5", "share found among the first five", {}, false, true, true},
    {"recall_at_10", "share found among the first ten", {}, false, true, true},
    {"median_rank", "median rank at which a sample is found in another view", {}, true, true, true},
    {"mean_reciprocal_rank", "mean of 1 / rank", {}, false, true, true},
};

// The cross-view protocol is about the labels, not about a target that holds classes, too.
bool measurable(const MetricRow& row, const Dataset& data) {
  if (!row.of) return data.views.count() > 1;
  if (row.of == kClasses && data.labels.labelled() > 0) return true;
  if (row.name == kCrossView) return false;
  return std::any_of(data.targets.begin(), data.targets.end(),
                     [&](const Target& target) { return target.kind == row.of; });
}

const MetricRow& find_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const MetricRow& row : kMetrics) {
    if (row.name == name) return row;
    names.emplace_back(row.name);
  }
  throw InputError("metric", unknown_name("metric", name, names));
}

void check_view(const Views& views, std::string_view name) {
  std::vector<std::string> names;
  for (const View& view : views.views) {
    if (view.name == name) return;
    names.push_back(view.name);
  }
  throw InputError("metric", unknown_name("view", name, names));
}

// Of the mean over scores that `wanted` holds for; NaN over none.
template <class Wanted>
double mean_over(std::span<const Score> scores, Wanted wanted) {
  std::vector<double> values;
  for (const Score& score : scores) {
    if (wanted(score)) values.push_back(score.value);
  }
  return mean_and_standard_error(values).mean;
}

// "all" and "joint" are the model's own prediction, and that of its joint classifier.
bool of_protocol(const Score& score) {
  return score.metric == "accuracy" && score.train_view != "all" && score.train_view != "joint";
}

double cross_view_value(const Metric& metric, std::span<const Score> scores) {
  const auto across = [](const Score& score) { return of_protocol(score) && score.train_view != score.test_view; };
  const bool any_across = std::any_of(scores.begin(), scores.end(), across);
  return mean_over(scores, [&](const Score& score) {
    // Methods without a shared space have nothing across views.
    if (any_across ? !across(score) : !of_protocol(score)) return false;
    if (metric.view.empty()) return true;
    return score.test_view == metric.view && (!any_across || score.train_view == metric.train_view);
  });
}

Dataset matched(const FittedModel& model, const Dataset& data, const Context& context) {
  return {match_views(model, data.views, context), data.labels, data.targets};
}

}  // namespace

std::span<const MetricRow> metrics() { return kMetrics; }

std::string Metric::text() const {
  if (view.empty()) return name;
  return train_view.empty() ? fmt::format("{}:{}", name, view) : fmt::format("{}:{}/{}", name, train_view, view);
}

bool Metric::cross_view() const { return name == kCrossView; }

double Metric::goodness(double value) const {
  if (std::isnan(value)) return -std::numeric_limits<double>::infinity();
  return find_metric(name).smaller_is_better ? -value : value;
}

Metric parse_metric(std::string_view text, const Views& views) {
  const std::size_t colon = text.find(':');
  Metric metric{std::string(text.substr(0, colon)), {}, {}};
  find_metric(metric.name);
  if (colon == std::string_view::npos) return metric;
  std::string_view view = text.substr(colon + 1);
  if (metric.cross_view()) {
    const std::size_t slash = view.find('/');
    if (slash == std::string_view::npos) {
      throw InputError("metric", fmt::format("got '{}', need both views, as in {}:left/right", text, kCrossView));
    }
    metric.train_view = view.substr(0, slash);
    check_view(views, metric.train_view);
    view = view.substr(slash + 1);
  }
  check_view(views, view);
  metric.view = view;
  if (metric.cross_view() && metric.view == metric.train_view) {
    throw InputError("metric", fmt::format("got '{}', need two different views", text));
  }
  return metric;
}

void require_measurable(const Metric& metric, const Dataset& data) {
  if (measurable(find_metric(metric.name), data)) return;
  std::vector<std::string_view> names;
  for (const MetricRow& row : kMetrics) {
    if (measurable(row, data)) names.push_back(row.name);
  }
  throw InputError("metric", fmt::format("{} cannot be measured on these data; choose from {}", metric.name,
                                         names.empty() ? "none: there are no labels" : join(names, ", ")));
}

Metric usual_metric(const Dataset& data, const Method& method) {
  if (method.task == Task::ranking && method.family == Family::deep) return {"mean_reciprocal_rank", {}, {}};
  if (!method.clusters && data.labels.labelled() > 0) return {};
  if (!method.clusters && !data.targets.empty()) return {std::string(metric_of(data.targets[0].kind)), {}, {}};
  return {"sum_correlation", {}, {}};
}

double value_of(const Metric& metric, std::span<const Score> scores) {
  if (metric.cross_view()) return cross_view_value(metric, scores);
  const bool of_pairs = find_metric(metric.name).of_pairs;
  const auto wanted = [&](const Score& score) {
    if (score.metric != metric.name || (score.train_view == "all") == of_pairs) return false;
    if (of_pairs && !metric.view.empty()) return score.train_view == metric.view || score.test_view == metric.view;
    return metric.view.empty() || score.test_view == metric.view;
  };
  const auto together = [&](const Score& score) { return wanted(score) && score.test_view == "all"; };
  if (std::any_of(scores.begin(), scores.end(), together)) return mean_over(scores, together);
  return mean_over(scores, wanted);
}

std::vector<Score> score_model(const FittedModel& model, const Dataset& training, const Dataset& test,
                               const ScoringOptions& options, const Rng& rng, const Context& context) {
  const Dataset tested = matched(model, test, context);
  std::vector<Score> scores = model_scores(model, tested, context, find_metric(options.metric.name).retrieval);
  if (!options.metric.cross_view()) return scores;
  SvmOptions svm;
  if (options.svm_cost > 0) svm.costs = {options.svm_cost};
  const std::vector<Score> across =
      cross_view_scores(model, matched(model, training, context), tested, svm, rng, context);
  scores.insert(scores.end(), across.begin(), across.end());
  return scores;
}

}  // namespace tocca
