#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/model_data.h"
#include "cli/run.h"
#include "tocca/core/error.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;

std::string shown(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "–"; }

// A line for each view the classes were predicted from.
std::string class_table(const std::vector<Score>& scores) {
  Cells rows{{"predicted from", "samples"}};
  for (const Score& score : scores) {
    if (score.train_view != "all") continue;
    const bool first_line = rows.size() == 1 || (rows.size() == 2 && rows[1][0] == score.test_view);
    if (rows.size() == 1 || rows.back()[0] != score.test_view) {
      rows.push_back({score.test_view, fmt::format("{}", score.samples)});
    }
    if (first_line) rows[0].push_back(score.metric);
    rows.back().push_back(shown(score.value));
  }
  return rows.size() > 1 ? align(rows) : "";
}

std::string correlation_table(const std::vector<Score>& scores) {
  Cells rows{{"views", "samples", "sum correlation"}};
  for (const Score& score : scores) {
    if (score.metric != "sum_correlation" || !std::isfinite(score.value)) continue;
    rows.push_back({fmt::format("{} and {}", score.train_view, score.test_view), fmt::format("{}", score.samples),
                    shown(score.value)});
  }
  return rows.size() > 1 ? "\n" + align(rows) : "";
}

nlohmann::ordered_json score_rows(const ModelData& loaded, const std::vector<Score>& scores) {
  std::vector<ResultRow> results;
  results.reserve(scores.size());
  const auto n = static_cast<Index>(number_of(loaded.model.provenance, "training_samples"));
  for (const Score& score : scores) {
    results.push_back({loaded.model.method, n, score.train_view, score.test_view, score.metric, score.value,
                       std::numeric_limits<double>::quiet_NaN(), 1});
  }
  nlohmann::ordered_json rows = json_rows(results);
  for (std::size_t i = 0; i < scores.size(); ++i) rows[i]["samples"] = scores[i].samples;
  return rows;
}

int run_evaluate(const ModelRequest& request, Session& session) {
  const Context context = session.context();
  const ModelData loaded = load_model_and_data(request, session, context);
  Dataset data{loaded.views, {}};
  if (!loaded.model.classes.empty()) data.labels = make_labels(loaded.data.label_texts, loaded.model.classes);
  if (!loaded.model.classes.empty() && data.labels.labelled() == 0) {
    throw InputError("--labels", fmt::format("no sample has a label in {}", loaded.data.labels.path));
  }
  const std::vector<Score> scores = model_scores(loaded.model, data, context);
  if (std::none_of(scores.begin(), scores.end(), [](const Score& score) { return std::isfinite(score.value); })) {
    throw InputError("evaluate",
                     "nothing to score: no labelled sample has a view that the model predicts from, and no "
                     "three samples have two of its views; give both views, or labels that match");
  }
  session.result(class_table(scores) + correlation_table(scores));
  if (loaded.model.classes.empty()) session.info("the model was fitted without labels: only correlations are scored");
  session.json(score_rows(loaded, scores), loaded.seed,
               {{"method", loaded.model.method}, {"model", request.model}, {"samples", loaded.views.size()}});
  return kSuccess;
}

}  // namespace

Action set_up_evaluate(CLI::App& app) {
  const auto request = std::make_shared<ModelRequest>();
  add_model_options(app, *request, LabelUse::required);
  return [request](Session& session) { return run_evaluate(*request, session); };
}

}  // namespace tocca::cli
