#include "cli/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/selection.h"
#include "cli/session.h"
#include "tocca/core/text.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

bool of_protocol(const Score& score) { return score.train_view != "all" && score.metric == "accuracy"; }

std::vector<ResultRow> rows_of(const ComparisonResult& result, const std::string& method, bool cross_view) {
  std::vector<ResultRow> rows;
  for (const ComparedScore& score : result.scores) {
    if (score.method != method || (cross_view && !of_protocol(score.what))) continue;
    const std::string metric =
        score.what.target.empty() ? score.what.metric : fmt::format("{} {}", score.what.target, score.what.metric);
    rows.push_back({method, score.n, score.what.train_view, score.what.test_view, metric, score.mean.mean,
                    score.mean.standard_error, score.mean.count});
  }
  if (cross_view) {
    std::stable_partition(rows.begin(), rows.end(),
                          [](const ResultRow& row) { return row.train_view != row.test_view; });
  }
  return rows;
}

const std::string& baseline_of(const Comparison& comparison) {
  return comparison.baseline.empty() ? comparison.methods[0] : comparison.baseline;
}

// "left", "left → right": what a score was tested on.
std::string views_text(const Score& score) {
  const bool own = score.train_view == "all" || score.train_view == score.test_view;
  return own ? score.test_view : fmt::format("{} → {}", score.train_view, score.test_view);
}

// With the target, where there are several.
std::string column_text(const ComparisonResult& result, const Score& score) {
  const bool several = std::any_of(result.scores.begin(), result.scores.end(), [&](const ComparedScore& other) {
    return other.what.metric == score.metric && other.what.target != score.target;
  });
  return several ? fmt::format("{} {}", score.target.empty() ? "labels" : score.target, views_text(score))
                 : views_text(score);
}

// Besides the metric itself: the same figure of single views, or of each pair.
std::vector<const ComparedScore*> related(const ComparisonResult& result, const Metric& metric,
                                          const std::string& method) {
  std::vector<const ComparedScore*> scores;
  for (const ComparedScore& score : result.scores) {
    const bool same =
        metric.cross_view() ? of_protocol(score.what) : score.what.metric == metric.name && !of_protocol(score.what);
    if (score.method == method && same) scores.push_back(&score);
  }
  return scores;
}

// Methods without a shared space have no figure across views, and their own stands in its place.
std::string own_view_note(const ComparisonResult& result, const Metric& metric) {
  if (!metric.cross_view()) return "";
  std::vector<std::string> names;
  for (const MethodOutcome& outcome : result.methods) {
    const auto scores = related(result, metric, outcome.method);
    const bool across = std::any_of(scores.begin(), scores.end(), [](const ComparedScore* score) {
      return score->what.train_view != score->what.test_view;
    });
    if (!across && !scores.empty()) names.push_back(outcome.method);
  }
  if (names.empty()) return "";
  return fmt::format("{}: no shared space, so that it is learnt and tested on the same view\n", join(names, ", "));
}

double seconds_of(const MethodOutcome& outcome) {
  double seconds = 0;
  for (const TrialRecord& trial : outcome.splits) seconds += trial.seconds;
  return seconds;
}

}  // namespace

std::vector<ResultRow> result_rows(const ComparisonResult& result, const Comparison& comparison) {
  std::vector<ResultRow> rows;
  for (const std::string& method : comparison.methods) {
    const auto own = rows_of(result, method, comparison.scoring.metric.cross_view());
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

std::string comparison_text(const ComparisonResult& result, const Comparison& comparison) {
  const Metric& metric = comparison.scoring.metric;
  std::vector<std::string> columns;
  for (const std::string& method : comparison.methods) {
    for (const ComparedScore* score : related(result, metric, method)) {
      const std::string name = column_text(result, score->what);
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  }
  std::vector<std::vector<std::string>> rows{{"method", metric.text(), "splits"}};
  rows[0].insert(rows[0].end(), columns.begin(), columns.end());
  rows[0].emplace_back("seconds");
  for (const MethodOutcome& outcome : result.methods) {
    rows.push_back({outcome.method, value_text(outcome.mean.mean, outcome.mean.standard_error),
                    fmt::format("{}", outcome.mean.count)});
    const auto scores = related(result, metric, outcome.method);
    for (const std::string& column : columns) {
      const auto found = std::find_if(scores.begin(), scores.end(), [&](const ComparedScore* score) {
        return column_text(result, score->what) == column;
      });
      rows.back().push_back(found == scores.end() ? "–"
                                                  : value_text((*found)->mean.mean, (*found)->mean.standard_error));
    }
    rows.back().push_back(fmt::format("{:.1f}", seconds_of(outcome)));
  }
  return align(rows) + own_view_note(result, metric);
}

std::string differences_text(const ComparisonResult& result, const Comparison& comparison) {
  if (result.methods.size() < 2) return "";
  std::vector<std::vector<std::string>> rows{
      {fmt::format("{} less {}", comparison.scoring.metric.text(), baseline_of(comparison)), "difference", "t", "p"}};
  for (const MethodOutcome& outcome : result.methods) {
    if (outcome.method == baseline_of(comparison)) continue;
    const PairedTest& test = outcome.difference;
    const bool tested = std::isfinite(test.p);
    rows.push_back({outcome.method, std::isfinite(test.difference) ? fmt::format("{:+.3f}", test.difference) : "–",
                    tested ? fmt::format("{:.2f}", test.t) : "–", tested ? fmt::format("{:.3g}", test.p) : "–"});
  }
  return "\n" + align(rows) +
         "two-sided, corrected for the training samples that splits share (Nadeau and Bengio 2003)\n";
}

std::vector<std::pair<std::string, std::string>> difference_facts(const ComparisonResult& result,
                                                                  const Comparison& comparison) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const MethodOutcome& outcome : result.methods) {
    const PairedTest& test = outcome.difference;
    if (outcome.method == baseline_of(comparison) || !std::isfinite(test.p)) continue;
    facts.emplace_back(fmt::format("{} less {}", outcome.method, baseline_of(comparison)),
                       fmt::format("{:+.3f}, p = {:.3g} (corrected resampled t-test)", test.difference, test.p));
  }
  return facts;
}

nlohmann::ordered_json json_comparison(const ComparisonResult& result, const Comparison& comparison) {
  const Metric& metric = comparison.scoring.metric;
  std::vector<ResultRow> rows;
  for (const MethodOutcome& outcome : result.methods) {
    rows.push_back({outcome.method, comparison.splits[0].training.views.size(), metric.train_view,
                    metric.view.empty() ? "all" : metric.view, metric.text(), outcome.mean.mean,
                    outcome.mean.standard_error, outcome.mean.count});
  }
  nlohmann::ordered_json json = json_rows(rows);
  for (nlohmann::ordered_json& row : json) row["compared"] = true;
  for (nlohmann::ordered_json& row : json_rows(result_rows(result, comparison))) {
    row["compared"] = false;
    json.push_back(std::move(row));
  }
  return json;
}

nlohmann::ordered_json json_differences(const ComparisonResult& result, const Comparison& comparison) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const MethodOutcome& outcome : result.methods) {
    if (outcome.method == baseline_of(comparison)) continue;
    const PairedTest& test = outcome.difference;
    rows.push_back({{"method", outcome.method},
                    {"baseline", baseline_of(comparison)},
                    {"difference", test.difference},
                    {"se", test.standard_error},
                    {"t", test.t},
                    {"p", test.p},
                    {"splits", test.count}});
  }
  return rows;
}

void write_splits_csv(std::ostream& out, const ComparisonResult& result, const Comparison& comparison) {
  out << fmt::format("method,split,state,reason,{},seconds,how\n", csv_field(comparison.scoring.metric.text()));
  for (const MethodOutcome& outcome : result.methods) {
    for (const TrialRecord& trial : outcome.splits) {
      out << fmt::format("{},{},{},{},{},{:.3f},{}\n", outcome.method, trial.number + 1, name_of(trial.state),
                         csv_field(trial.reason), std::isfinite(trial.value) ? fmt::format("{}", trial.value) : "",
                         trial.seconds, csv_field(trial.folds.empty() ? "" : trial.folds[0].message));
    }
  }
}

std::string fits_text(const ComparisonResult& result) {
  std::vector<std::vector<std::string>> rows{{"method", "split", "seconds", "how it ended"}};
  for (const MethodOutcome& outcome : result.methods) {
    for (const TrialRecord& trial : outcome.splits) {
      std::string end = trial.folds.empty() || trial.folds[0].message.empty() ? "closed form" : trial.folds[0].message;
      if (trial.state == TrialState::failed) end = trial.reason;
      if (trial.state == TrialState::waiting || trial.state == TrialState::running) end = "interrupted";
      rows.push_back({outcome.method, fmt::format("{}", trial.number + 1), fmt::format("{:.1f}", trial.seconds), end});
    }
  }
  return align(rows);
}

}  // namespace tocca::cli
