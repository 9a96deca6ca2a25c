#include "tocca/evaluate/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/correlation.h"
#include "tocca/metrics/classification.h"
#include "tocca/metrics/clustering.h"
#include "tocca/metrics/columns.h"
#include "tocca/metrics/ranking.h"
#include "tocca/metrics/regression.h"
#include "tocca/metrics/retrieval.h"
#include "tocca/metrics/survival.h"

namespace tocca {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What one view gives of a dataset: projections or scores of the samples that have it, and their labels.
struct Part {
  Matrix<double> rows;
  std::vector<int> codes;
  std::vector<Index> groups;
};

std::vector<int> codes_of(const Labels& labels, const std::vector<Index>& samples) {
  std::vector<int> codes;
  for (const Index s : samples) codes.push_back(labels.codes.empty() ? -1 : labels.codes[static_cast<std::size_t>(s)]);
  return codes;
}

Part projections(const FittedModel& model, const Dataset& data, Index view, const Context& context) {
  const auto samples = samples_with_view(data.views, view);
  return {transform(model, data.views, view, samples, context), codes_of(data.labels, samples),
          groups_of(data, samples)};
}

Index labelled(std::span<const int> codes) {
  return std::count_if(codes.begin(), codes.end(), [](int code) { return code >= 0; });
}

const std::string& view_name(const FittedModel& model, Index v) {
  return model.views[static_cast<std::size_t>(v)].name;
}

std::vector<Score> own_scores(const FittedModel& model, const Dataset& test, const Context& context) {
  std::vector<Score> scores;
  for (Index v = 0; v < model.view_count(); ++v) {
    const auto samples = samples_with_view(test.views, v);
    const auto codes = codes_of(test.labels, samples);
    const auto predicted = largest_column(class_scores(model, test.views, v, samples, context));
    scores.push_back(
        {view_name(model, v), view_name(model, v), "accuracy", accuracy(predicted, codes), labelled(codes), {}});
  }
  return scores;
}

// Codes only mean the same on both sides when the classes do.
void require_same_classes(const std::vector<std::string>& known, const Labels& labels) {
  if (labels.labelled() == 0 || labels.classes == known) return;
  throw InputError("evaluate", fmt::format("classes: got {}, need {}; make the labels with the model's classes",
                                           join(labels.classes, ", "), join(known, ", ")));
}

void add_class_scores(std::vector<Score>& scores, const std::string& test_view, std::span<const int> predicted,
                      std::span<const int> codes) {
  const Index n = labelled(codes);
  scores.push_back({"all", test_view, "accuracy", accuracy(predicted, codes), n, {}});
  scores.push_back({"all", test_view, "balanced_accuracy", balanced_accuracy(predicted, codes), n, {}});
  scores.push_back({"all", test_view, "macro_f1", macro_f1(predicted, codes), n, {}});
}

void add_cluster_scores(std::vector<Score>& scores, const std::string& test_view, std::span<const int> predicted,
                        std::span<const int> codes) {
  const Index n = labelled(codes);
  scores.push_back({"all", test_view, "nmi", normalized_mutual_information(predicted, codes), n, {}});
  scores.push_back({"all", test_view, "ari", adjusted_rand_index(predicted, codes), n, {}});
  scores.push_back({"all", test_view, "clustering_accuracy", clustering_accuracy(predicted, codes), n, {}});
}

// Rows of `known` and of `predicted` are the same samples.
void add_target_scores(std::vector<Score>& scores, const std::string& test_view, const Target& known,
                       const Matrix<double>& predicted) {
  const auto add = [&](const char* metric, double value, Index n, const std::string& target) {
    scores.push_back({"all", test_view, metric, value, n, target});
  };
  if (known.kind == TargetKind::classification) {
    const auto before = static_cast<std::ptrdiff_t>(scores.size());
    add_class_scores(scores, test_view, largest_column(predicted), known.labels.codes);
    for (auto score = scores.begin() + before; score != scores.end(); ++score) score->target = known.name();
    return;
  }
  if (known.kind == TargetKind::survival) {
    add("concordance",
        concordance_index(column_values(predicted, 0), column_values(known.values, 0), column_flags(known.values, 1)),
        known.known(), known.name());
    return;
  }
  for (Index c = 0; c < known.values.cols(); ++c) {
    const std::string& name = known.columns[static_cast<std::size_t>(c)];
    const auto numbers = column_values(predicted, c);
    const auto n = static_cast<Index>(known.values.rows() - known.values.col(c).array().isNaN().count());
    if (known.kind == TargetKind::regression) {
      add("r_squared", r_squared(numbers, column_values(known.values, c)), n, name);
      add("rmse", root_mean_squared_error(numbers, column_values(known.values, c)), n, name);
    } else {
      add("auc", area_under_roc(numbers, column_flags(known.values, c)), n, name);
      add("average_precision", average_precision(numbers, column_flags(known.values, c)), n, name);
    }
  }
}

void add_targets(std::vector<Score>& scores, const FittedModel& model, const Dataset& data, const Context& context) {
  if (data.targets.size() != model.targets.size()) {
    throw InputError("evaluate",
                     fmt::format("targets: got {}, need {} as in training", data.targets.size(), model.targets.size()));
  }
  for (std::size_t t = 0; t < model.targets.size(); ++t) {
    const ModelTarget& known = model.targets[t];
    const Target& given = data.targets[t];
    const bool same = given.kind == known.kind && given.labels.classes == known.classes &&
                      given.columns.size() == known.columns.size() && given.size() == data.views.size();
    if (same) continue;
    throw InputError("evaluate", fmt::format("target {}: got {} of '{}', need {} of '{}' with its columns and classes, "
                                             "one for each sample",
                                             t, name_of(given.kind), given.name(), name_of(known.kind), known.name()));
  }
  const std::vector<Index> with_any = data.views.with_any_view();
  const Views some = data.views.select(with_any);
  for (std::size_t t = 0; t < model.targets.size(); ++t) {
    for (Index v = 0; v < model.view_count(); ++v) {
      const auto samples = samples_with_view(data.views, v);
      if (samples.empty()) continue;
      add_target_scores(scores, view_name(model, v), data.targets[t].select(samples),
                        target_scores(model, t, data.views, v, samples, context));
    }
    if (model.view_count() > 1 && !with_any.empty()) {
      add_target_scores(scores, "all", data.targets[t].select(with_any), predict_target(model, t, some, context));
    }
  }
}

void add_retrieval_scores(std::vector<Score>& scores, const FittedModel& model, const Views& views, Index u, Index v,
                          const Context& context) {
  const auto samples = samples_with_views(views, u, v);
  if (samples.empty()) return;
  const RetrievalScores found =
      retrieval_scores(transform(model, views, u, samples, context), transform(model, views, v, samples, context));
  const auto n = static_cast<Index>(samples.size());
  const std::pair<const char*, double> figures[] = {{"recall_at_1", found.recall1},
                                                    {"recall_at_5", found.recall5},
                                                    {"recall_at_10", found.recall10},
                                                    {"median_rank", found.median_rank},
                                                    {"mean_reciprocal_rank", found.mean_reciprocal_rank}};
  for (const auto& [metric, value] : figures) {
    scores.push_back({view_name(model, u), view_name(model, v), metric, value, n, {}});
  }
}

Matrix<double> variates(const Matrix<double>& z, const RowVector<double>& mean, const Matrix<double>& weights) {
  Matrix<double> result(z.rows(), weights.cols());
  multiply<double>(Matrix<double>(z.rowwise() - mean), weights, result);
  return result;
}

}  // namespace

std::vector<Score> cross_view_scores(const FittedModel& model, const Dataset& training, const Dataset& test,
                                     const SvmOptions& options, const Rng& rng, const Context& context) {
  require_same_classes(training.labels.classes, test.labels);
  if (!model.has_shared_space()) return own_scores(model, test, context);
  std::vector<Part> tested;
  for (Index v = 0; v < model.view_count(); ++v) tested.push_back(projections(model, test, v, context));
  std::vector<Score> scores;
  for (Index u = 0; u < model.view_count(); ++u) {
    const Part part = projections(model, training, u, context);
    SvmOptions own = options;
    own.groups = part.groups;
    const LinearClassifier svm = fit_svm(part.rows, part.codes, static_cast<int>(training.labels.class_count()), own,
                                         rng.split("svm", static_cast<std::uint64_t>(u)), context);
    for (Index v = 0; v < model.view_count(); ++v) {
      const Part& on = tested[static_cast<std::size_t>(v)];
      scores.push_back({view_name(model, u),
                        view_name(model, v),
                        "accuracy",
                        accuracy(svm.predict(on.rows), on.codes),
                        labelled(on.codes),
                        {}});
    }
  }
  if (model.joint) {
    const auto samples = test.views.with_every_view();
    const auto codes = codes_of(test.labels, samples);
    const auto predicted = model.joint->predict(joint_rows(model, test.views, samples, context));
    scores.push_back({"joint", "joint", "accuracy", accuracy(predicted, codes), labelled(codes), {}});
  }
  return scores;
}

std::vector<Score> model_scores(const FittedModel& model, const Dataset& data, const Context& context, bool retrieval) {
  std::vector<Score> scores;
  if (model.predicts() && data.labels.labelled() > 0) {
    const auto add = model.clustering ? add_cluster_scores : add_class_scores;
    if (!model.clustering) require_same_classes(model.classes, data.labels);
    for (Index v = 0; v < model.view_count(); ++v) {
      const auto samples = samples_with_view(data.views, v);
      if (samples.empty()) continue;
      add(scores, view_name(model, v), largest_column(class_scores(model, data.views, v, samples, context)),
          codes_of(data.labels, samples));
    }
    const std::vector<Index> seen = data.views.with_any_view();
    if (model.view_count() > 1 && !seen.empty()) {
      const Dataset some = data.select(seen);
      add(scores, "all", predict(model, some.views, context).codes, some.labels.codes);
    }
  }
  if (!data.targets.empty()) add_targets(scores, model, data, context);
  for (const CanonicalPair& pair : model.pairs) {
    const Vector<double> correlations = canonical_correlations(model, pair, data.views, context);
    const auto n = static_cast<Index>(samples_with_views(data.views, pair.u, pair.v).size());
    scores.push_back({view_name(model, pair.u),
                      view_name(model, pair.v),
                      "sum_correlation",
                      correlations.size() > 0 ? correlations.sum() : kNan,
                      n,
                      {}});
  }
  for (Index u = 0; retrieval && model.has_shared_space() && u < model.view_count(); ++u) {
    for (Index v = 0; v < model.view_count(); ++v) {
      if (u != v) add_retrieval_scores(scores, model, data.views, u, v, context);
    }
  }
  return scores;
}

double view_score(const FittedModel& model, const Dataset& data, Index view, const Context& context) {
  const auto samples = samples_with_view(data.views, view);
  if (samples.empty()) return kNan;
  if (model.predicts()) {
    return accuracy(largest_column(class_scores(model, data.views, view, samples, context)),
                    codes_of(data.labels, samples));
  }
  if (model.targets.empty() || data.targets.empty()) return kNan;
  HeadTargets known;
  known.add(data.targets[0], samples);
  return head_score(model.targets[0].kind, known, target_scores(model, 0, data.views, view, samples, context));
}

Vector<double> canonical_correlations(const FittedModel& model, const CanonicalPair& pair, const Views& views,
                                      const Context& context) {
  const auto samples = samples_with_views(views, pair.u, pair.v);
  if (samples.size() < 3) return {};
  const Matrix<double> u = transform(model, views, pair.u, samples, context);
  const Matrix<double> v = transform(model, views, pair.v, samples, context);
  return column_correlations(variates(u, pair.mean_u, pair.weights_u), variates(v, pair.mean_v, pair.weights_v));
}

}  // namespace tocca
