/// What a search maximises or a comparison reports: one number of a fitted model on samples that it did not learn from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/evaluate/protocol.h"
#include "tocca/methods/methods.h"

namespace tocca {

/// "accuracy": of all views together. "accuracy:left": from that view alone. "cross_view_accuracy": of the cross-view
/// protocol, mean over all ordered pairs of views; "cross_view_accuracy:left/right": learnt on left, tested on right. A
/// method without a shared space counts with its own classifier of the view tested.
struct Metric {
  std::string name = "accuracy";
  std::string train_view;  ///< of cross_view_accuracy
  std::string view;        ///< empty: all views together, or the mean over views or pairs where there is no such figure

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool cross_view() const;
  /// The value, or less it where smaller is better; −∞ for NaN.
  [[nodiscard]] double goodness(double value) const;
};

struct MetricRow {
  std::string_view name;
  std::string_view title;
  std::optional<TargetKind> of = {};  ///< what has to be known of the samples; nothing: the views are enough
  bool smaller_is_better = false;
  bool of_pairs = false;   ///< it belongs to pairs of views
  bool retrieval = false;  ///< needs model_scores(retrieval = true)
};
std::span<const MetricRow> metrics();

/// Throws InputError offering near names, or where a view is not one of `views`.
Metric parse_metric(std::string_view text, const Views& views);
/// Throws InputError where the data lack what the metric is about, naming those that can be measured.
void require_measurable(const Metric& metric, const Dataset& data);
/// What suits the data: accuracy with labels; r_squared, concordance or auc of a target; without either, or for a
/// method that uses none, sum_correlation or mean_reciprocal_rank.
Metric usual_metric(const Dataset& data, const Method& method);

/// The metric among the scores of a model; NaN where it is not there.
double value_of(const Metric& metric, std::span<const Score> scores);

/// How a fit is scored.
struct ScoringOptions {
  Metric metric;
  /// Cost of the SVM of the cross-view protocol; 0: chosen by cross-validation, which for a search of settings would
  /// take most of the time.
  double svm_cost = 0;
};
/// Scores of the model's own predictions on `test`, and with a cross-view metric those of the protocol.
std::vector<Score> score_model(const FittedModel& model, const Dataset& training, const Dataset& test,
                               const ScoringOptions& options, const Rng& rng, const Context& context);

}  // namespace tocca
