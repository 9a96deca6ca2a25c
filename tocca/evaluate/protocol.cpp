#include "tocca/evaluate/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/evaluate/metrics.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/correlation.h"

namespace tocca {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What one view gives of a dataset: projections or scores of the samples that have it, and their labels.
struct Part {
  Matrix<double> rows;
  std::vector<int> codes;
};

std::vector<int> codes_of(const Labels& labels, const std::vector<Index>& samples) {
  std::vector<int> codes;
  for (const Index s : samples) codes.push_back(labels.codes.empty() ? -1 : labels.codes[static_cast<std::size_t>(s)]);
  return codes;
}

Part projections(const FittedModel& model, const Dataset& data, Index view, const Context& context) {
  const auto samples = samples_with_view(data.views, view);
  return {transform(model, data.views, view, samples, context), codes_of(data.labels, samples)};
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
        {view_name(model, v), view_name(model, v), "accuracy", accuracy(predicted, codes), labelled(codes)});
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
  scores.push_back({"all", test_view, "accuracy", accuracy(predicted, codes), n});
  scores.push_back({"all", test_view, "balanced_accuracy", balanced_accuracy(predicted, codes), n});
  scores.push_back({"all", test_view, "macro_f1", macro_f1(predicted, codes), n});
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
    const LinearClassifier svm = fit_svm(part.rows, part.codes, static_cast<int>(training.labels.class_count()),
                                         options, rng.split("svm", static_cast<std::uint64_t>(u)), context);
    for (Index v = 0; v < model.view_count(); ++v) {
      const Part& on = tested[static_cast<std::size_t>(v)];
      scores.push_back({view_name(model, u), view_name(model, v), "accuracy", accuracy(svm.predict(on.rows), on.codes),
                        labelled(on.codes)});
    }
  }
  return scores;
}

std::vector<Score> model_scores(const FittedModel& model, const Dataset& data, const Context& context) {
  std::vector<Score> scores;
  if (model.predicts() && data.labels.labelled() > 0) {
    require_same_classes(model.classes, data.labels);
    for (Index v = 0; v < model.view_count(); ++v) {
      const auto samples = samples_with_view(data.views, v);
      if (samples.empty()) continue;
      add_class_scores(scores, view_name(model, v),
                       largest_column(class_scores(model, data.views, v, samples, context)),
                       codes_of(data.labels, samples));
    }
    if (model.view_count() > 1)
      add_class_scores(scores, "all", predict(model, data.views, context).codes, data.labels.codes);
  }
  for (const CanonicalPair& pair : model.pairs) {
    const Vector<double> correlations = canonical_correlations(model, pair, data.views, context);
    const auto n = static_cast<Index>(samples_with_views(data.views, pair.u, pair.v).size());
    scores.push_back({view_name(model, pair.u), view_name(model, pair.v), "sum_correlation",
                      correlations.size() > 0 ? correlations.sum() : kNan, n});
  }
  return scores;
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
