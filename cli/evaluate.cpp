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
#include "tocca/methods/methods.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;

std::string shown(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "–"; }

// A line for each view that a target was predicted from.
std::string score_table(const std::vector<Score>& scores, const std::string& target) {
  Cells rows{{target.empty() ? "predicted from" : target + " predicted from", "samples"}};
  for (const Score& score : scores) {
    if (score.train_view != "all" || score.target != target) continue;
    const bool first_line = rows.size() == 1 || (rows.size() == 2 && rows[1][0] == score.test_view);
    if (rows.size() == 1 || rows.back()[0] != score.test_view) {
      rows.push_back({score.test_view, fmt::format("{}", score.samples)});
    }
    if (first_line) rows[0].push_back(score.metric);
    rows.back().push_back(shown(score.value));
  }
  return rows.size() > 1 ? align(rows) + "\n" : "";
}

// A table for the labels, then one for each target.
std::string score_tables(const std::vector<Score>& scores) {
  std::string text;
  std::vector<std::string> seen;
  for (const Score& score : scores) {
    if (std::find(seen.begin(), seen.end(), score.target) != seen.end()) continue;
    seen.push_back(score.target);
    text += score_table(scores, score.target);
  }
  return text;
}

std::string retrieval_table(const std::vector<Score>& scores) {
  Cells rows{{"query", "found in", "samples"}};
  const auto retrieval = [](const Score& score) {
    return score.train_view != "all" && score.metric != "sum_correlation";
  };
  for (const Score& score : scores) {
    if (!retrieval(score)) continue;
    if (rows.size() == 1 || rows.back()[0] != score.train_view || rows.back()[1] != score.test_view) {
      rows.push_back({score.train_view, score.test_view, fmt::format("{}", score.samples)});
    }
    if (rows.size() == 2) rows[0].push_back(score.metric);
    rows.back().push_back(shown(score.value));
  }
  return rows.size() > 1 ? "\n" + align(rows) : "";
}

std::string correlation_table(const std::vector<Score>& scores) {
  Cells rows{{"views", "samples", "sum correlation"}};
  for (const Score& score : scores) {
    if (score.metric != "sum_correlation" || !std::isfinite(score.value)) continue;
    rows.push_back({fmt::format("{} and {}", score.train_view, score.test_view), fmt::format("{}", score.samples),
                    shown(score.value)});
  }
  return rows.size() > 1 ? align(rows) : "";
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
  for (std::size_t i = 0; i < scores.size(); ++i) {
    rows[i]["samples"] = scores[i].samples;
    if (!scores[i].target.empty()) rows[i]["target"] = scores[i].target;
  }
  return rows;
}

// The labels' column: as given, or without that by the name it had in training, or the only one.
std::vector<LabelTexts> load_class_column(const DataRequest& request, const ModelData& loaded, Session& session) {
  std::string given = parse_labels(request.labels).column;
  if (given.find(',') != std::string::npos) given.clear();  // of several tasks, by the names they had in training
  const std::string& known = loaded.model.label_column;
  if (given.empty() && !known.empty()) {
    const std::vector<std::string> columns = label_columns(loaded.data.label_path, {request.id_column});
    const bool there = std::find(columns.begin(), columns.end(), known) != columns.end();
    return load_labels(request, loaded.data, {there ? known : ""}, session);
  }
  return load_labels(request, loaded.data, {given}, session);
}

Target load_target(const DataRequest& request, const ModelData& loaded, const ModelTarget& target, Session& session) {
  std::vector<std::string> names = target.columns;
  const std::string given = parse_labels(request.labels).column;
  // Columns under other names, where it is clear which target they are of.
  if (!given.empty() && loaded.model.targets.size() == 1 && loaded.model.classes.empty()) {
    const std::vector<std::string> told = split_columns(given);
    if (!std::is_permutation(told.begin(), told.end(), names.begin(), names.end())) {
      names = told;
      session.info(
          fmt::format("--labels: columns {} are taken as the model's {}, in this order", given, target.name()));
    }
  }
  if (names.size() != target.columns.size()) {
    throw InputError("--labels",
                     fmt::format("columns: got {}, need {} for {}", given, target.columns.size(), target.name()));
  }
  std::vector<std::vector<std::string>> texts;
  for (const LabelTexts& column : load_labels(request, loaded.data, names, session)) texts.push_back(column.text);
  if (target.kind != TargetKind::classification) return make_target(target.kind, target.columns, texts);
  return {target.kind, target.columns, make_labels(texts[0], target.classes), {}};
}

Dataset load_known(const DataRequest& request, const ModelData& loaded, Session& session) {
  Dataset data{loaded.views, {}, {}};
  const FittedModel& model = loaded.model;
  if (!model.classes.empty()) {
    const std::vector<std::string> texts = load_class_column(request, loaded, session)[0].text;
    data.labels = model.clustering ? make_labels(texts) : make_labels(texts, model.classes);
  }
  for (const ModelTarget& target : model.targets) {
    data.targets.push_back(load_target(request, loaded, target, session));
  }
  const auto known = [](const Target& target) { return target.known() > 0; };
  const bool any = data.labels.labelled() > 0 || std::any_of(data.targets.begin(), data.targets.end(), known);
  if (any || (model.classes.empty() && model.targets.empty())) return data;
  throw InputError("--labels", fmt::format("no sample has a label in {}", loaded.data.label_path));
}

struct EvaluateRequest {
  ModelRequest input;
  bool retrieval = false;
};

int run_evaluate(const EvaluateRequest& evaluation, Session& session) {
  const ModelRequest& request = evaluation.input;
  const Context context = session.context();
  const ModelData loaded = load_model_and_data(request, session, context);
  const Dataset data = load_known(request.data, loaded, session);
  const bool retrieval = evaluation.retrieval || text_of(loaded.model.options, "task") == "retrieval" ||
                         find_method(loaded.model.method).task == Task::ranking;
  const std::vector<Score> scores = model_scores(loaded.model, data, context, retrieval);
  if (std::none_of(scores.begin(), scores.end(), [](const Score& score) { return std::isfinite(score.value); })) {
    throw InputError("evaluate",
                     "nothing to score: no labelled sample has a view that the model predicts from, and no "
                     "three samples have two of its views; give both views, or labels that match");
  }
  session.result(score_tables(scores) + correlation_table(scores) + retrieval_table(scores));
  if (loaded.model.classes.empty() && loaded.model.targets.empty()) {
    session.info("the model was fitted without labels: only how views go together is scored");
  }
  session.json(score_rows(loaded, scores), loaded.seed,
               {{"method", loaded.model.method}, {"model", request.model}, {"samples", loaded.views.size()}});
  return kSuccess;
}

}  // namespace

Action set_up_evaluate(CLI::App& app) {
  const auto request = std::make_shared<EvaluateRequest>();
  add_model_options(app, request->input, LabelUse::required);
  app.add_flag("--retrieval", request->retrieval,
               "How well a sample of one view is found in another (always for a model fitted to that)");
  return [request](Session& session) { return run_evaluate(*request, session); };
}

}  // namespace tocca::cli
