#include "cli/paper_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/budget.h"
#include "cli/comparison_table.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/paper.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/selection.h"
#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"
#include "tocca/report/html.h"
#include "tocca/report/records.h"
#include "tocca/report/svg_plot.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

struct CellResult {
  const Cell* cell;
  Comparison comparison;
  ComparisonResult result;
};

Plan asked_plan(const PaperExperiment& experiment, const ReproduceRequest& request) {
  std::size_t splits = 0;
  for (const Cell& cell : experiment.cells) splits = std::max(splits, cell.comparison.splits.size());
  return {request.tune, static_cast<Index>(splits), experiment.cells.size(), 0};
}

// The plan of a resumed run is the one that it began with: costs measured anew would give another.
NamedTexts plan_texts(const Plan& plan) {
  return {{"tune", fmt::format("{}", plan.tune)},
          {"splits", fmt::format("{}", plan.splits)},
          {"cells", fmt::format("{}", plan.cells)}};
}

std::optional<Plan> stored_plan(const TrialStore& store, const std::string& study) {
  for (const auto& [name, texts] : store.studies()) {
    if (name != study) continue;
    const auto number = [&texts = texts](std::size_t i) { return static_cast<Index>(std::stoll(texts.at(i).second)); };
    return Plan{number(0), number(1), static_cast<std::size_t>(number(2)), 0};
  }
  return std::nullopt;
}

Plan plan_within(const PaperExperiment& experiment, const ReproduceRequest& request, TrialStore& store,
                 Session& session, const Context& context) {
  const Plan asked = asked_plan(experiment, request);
  if (!request.budget) return asked;
  const std::string study = fmt::format("{} plan: {} h, {} settings, {} splits, {} cells", experiment.name,
                                        *request.budget, asked.tune, asked.splits, asked.cells);
  if (const auto plan = stored_plan(store, study)) return *plan;
  session.info("measuring what a fit takes");
  std::vector<std::vector<FitCost>> costs;
  for (const Cell& cell : experiment.cells) {
    costs.emplace_back();
    for (const std::string& method : cell.comparison.methods) {
      if (context.cancelled()) throw Interrupted("reproduce", "interrupted while the costs were measured");
      costs.back().push_back(measure_cost(cell.comparison, method, context));
      if (request.tune == 0) costs.back().back().search(cell.comparison.tune);
    }
  }
  const Index threads = context.workers ? context.workers->threads() : 1;
  const Plan plan = make_plan(costs, asked, *request.budget * 3600, threads, experiment.tune_once);
  session.info(fmt::format("expected to take {}{}", duration_text(plan.seconds),
                           plan.seconds > *request.budget * 3600 ? ", longer than that: the least there is" : ""));
  store.study(study, plan_texts(plan));
  return plan;
}

std::string plan_text(const PaperExperiment& experiment, const Plan& plan, const Plan& asked,
                      const ReproduceRequest& request) {
  if (!request.budget) return "";
  std::string text = fmt::format("within {} h: {} of {} settings, {} of {} splits", *request.budget, plan.tune,
                                 asked.tune, plan.splits, asked.splits);
  for (std::size_t c = plan.cells; c < experiment.cells.size(); ++c) {
    text += fmt::format("{} {}", c == plan.cells ? "; left out:" : ",", experiment.cells[c].name);
  }
  return text;
}

using Facts = std::vector<std::pair<std::string, std::string>>;

// As it was run, which a budget or an interruption may have changed.
Facts facts_of(const PaperExperiment& experiment, const ReproduceRequest& request, const Plan& plan, bool interrupted) {
  Facts facts = experiment.facts;
  for (auto& [name, value] : facts) {
    if (name == "settings" && request.tune > 0 && plan.tune == 0) value = "not searched: the budget is too small";
  }
  if (interrupted) facts.emplace_back("interrupted", "the tables hold what was finished");
  return facts;
}

std::vector<CellResult> run_cells(const PaperExperiment& experiment, const ReproduceRequest& request, const Plan& plan,
                                  TrialStore& store, Session& session, const Context& context) {
  std::vector<CellResult> results;
  for (std::size_t c = 0; c < plan.cells && !context.cancelled(); ++c) {
    const Cell& cell = experiment.cells[c];
    Comparison comparison = cell.comparison;
    comparison.study = fmt::format("{} {}", experiment.name, cell.name);
    if (request.tune > 0) comparison.tune = plan.tune;  // otherwise the cell's own, if any
    comparison.tune_once = experiment.tune_once && comparison.tune > 0;
    if (comparison.splits.size() > static_cast<std::size_t>(plan.splits)) {
      comparison.splits.resize(static_cast<std::size_t>(plan.splits));
    }
    session.info(fmt::format("{} of {}: {}", c + 1, plan.cells, cell.name));
    ComparisonResult result = run_comparison(store, comparison, context);
    results.push_back({&cell, std::move(comparison), std::move(result)});
  }
  return results;
}

std::string paper_cell(const PaperExperiment& experiment, const std::string& cell, const std::string& method) {
  const auto value = published(experiment.name, cell, method);
  return value ? fmt::format("{:.3f}", *value) : "";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string table_text(const PaperExperiment& experiment, const std::vector<CellResult>& results) {
  std::string text;
  for (const CellResult& cell : results) {
    std::vector<std::vector<std::string>> rows{
        {cell.cell->name, cell.comparison.scoring.metric.text(), "splits", experiment.paper_column, "seconds"}};
    for (const MethodOutcome& outcome : cell.result.methods) {
      double seconds = 0;
      for (const TrialRecord& trial : outcome.splits) seconds += trial.seconds;
      rows.push_back({outcome.method, value_text(outcome.mean.mean, outcome.mean.standard_error),
                      fmt::format("{}", outcome.mean.count), paper_cell(experiment, cell.cell->name, outcome.method),
                      fmt::format("{:.1f}", seconds)});
    }
    if (const auto other = published(experiment.name, cell.cell->name, "best other method")) {
      rows.push_back({"best other method", "", "", fmt::format("{:.3f}", *other), ""});
    }
    text += (text.empty() ? "" : "\n") + align(rows);
  }
  return text;
}

nlohmann::ordered_json json_cells(const PaperExperiment& experiment, const std::vector<CellResult>& results) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CellResult& cell : results) {
    nlohmann::ordered_json own = json_comparison(cell.result, cell.comparison);
    for (nlohmann::ordered_json& row : own) {
      row["cell"] = cell.cell->name;
      const auto paper = published(experiment.name, cell.cell->name, row["method"].get<std::string>());
      if (row["compared"].get<bool>() && paper) row["paper"] = *paper;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// A search trial as a point: correlation of the views against how well they predict each other's classes.
struct Point {
  std::string method;
  double correlation, value;
  const TrialRecord* trial;
};

std::string points_csv(const std::vector<Point>& points) {
  std::string text = "method,trial,mean_correlation,value,settings\n";
  for (const Point& point : points) {
    std::string settings;
    for (const auto& [name, value] : point.trial->settings) {
      settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", name, value);
    }
    text += fmt::format("{},{},{},{},{}\n", point.method, point.trial->number, point.correlation, point.value,
                        csv_field(settings));
  }
  return text;
}

Figure points_figure(const std::vector<Point>& points, const std::string& cell, const std::string& metric) {
  std::vector<PlotSeries> series;
  for (const Point& point : points) {
    if (series.empty() || series.back().name != point.method) series.push_back({point.method, {}, {}});
    series.back().x.push_back(point.correlation);
    series.back().y.push_back(point.value);
  }
  return {fmt::format("{}: a dot for each setting tried, on validation samples", cell),
          svg_plot(series, "mean correlation of the components", metric)};
}

std::vector<Point> points_of(const std::vector<TrialRecord>& trials, const std::string& method, Index components) {
  std::vector<Point> points;
  const Metric correlation{"sum_correlation", {}, {}};
  for (const TrialRecord& trial : trials) {
    if (trial.state != TrialState::finished || trial.folds.empty()) continue;
    const double sum = value_of(correlation, trial.folds[0].scores);
    if (!std::isnan(sum)) points.push_back({method, sum / static_cast<double>(components), trial.value, &trial});
  }
  return points;
}

// Letters, digits, dots and dashes alone.
std::string file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-'; }, '_');
  return text;
}

// Figure 2, left: each trial of the searches of a cell, on validation samples.
void write_points(const std::string& folder, const std::vector<CellResult>& results, const TrialStore& store,
                  Report& report) {
  for (const CellResult& cell : results) {
    if (cell.comparison.tune < 1) continue;
    std::vector<std::vector<TrialRecord>> kept;  // what points look at
    std::vector<Point> points;
    for (const std::string& method : cell.comparison.methods) {
      const auto study = store.find_study(fmt::format("{} {}, split 0: search", cell.comparison.study, method));
      if (!study) continue;
      kept.push_back(store.trials(*study));
      const Index components = cell.comparison.options.n_components;
      const auto own = points_of(kept.back(), method, components > 0 ? components : kDefaultComponents);
      points.insert(points.end(), own.begin(), own.end());
    }
    if (points.size() < 2) continue;
    report.figures.push_back(points_figure(points, cell.cell->name, cell.comparison.scoring.metric.text()));
    const std::string file =
        (std::filesystem::path(folder) / fmt::format("settings-{}.csv", file_name(cell.cell->name))).string();
    write_file(file, [&](std::ostream& out) { out << points_csv(points); });
  }
}

void write_results(const PaperExperiment& experiment, const std::string& folder, const std::vector<CellResult>& results,
                   const TrialStore& store, Report report) {
  const std::filesystem::path place(folder);
  std::string table = "cell,method,metric,mean,se,splits," + csv_field(experiment.paper_column) + "\n";
  for (const CellResult& cell : results) {
    for (const MethodOutcome& outcome : cell.result.methods) {
      table += fmt::format("{},{},{},{},{},{},{}\n", csv_field(cell.cell->name), outcome.method,
                           cell.comparison.scoring.metric.text(), csv_number(outcome.mean.mean),
                           csv_number(outcome.mean.standard_error), outcome.mean.count,
                           paper_cell(experiment, cell.cell->name, outcome.method));
    }
  }
  write_points(folder, results, store, report);
  write_file((place / "paper.csv").string(), [&](std::ostream& out) { out << table; });
  write_file((place / "results.csv").string(), [&](std::ostream& out) { out << csv(report); });
  write_file((place / "report.html").string(), [&](std::ostream& out) { out << html(report); });
}

Report make_report(const PaperExperiment& experiment, const std::vector<CellResult>& results, const Facts& facts,
                   const std::string& planned, std::uint64_t seed, const Session& session) {
  Report report = session.report(experiment.title, seed);
  report.facts = facts;
  if (!planned.empty()) report.facts.emplace_back("budget", planned);
  for (const CellResult& cell : results) {
    report.facts.emplace_back(fmt::format("settings tried, {}", cell.cell->name),
                              fmt::format("{}", cell.comparison.tune));
  }
  for (const CellResult& cell : results) {
    for (ResultRow row : result_rows(cell.result, cell.comparison)) {
      if (results.size() > 1) row.method = fmt::format("{}, {}", cell.cell->name, row.method);
      report.rows.push_back(std::move(row));
    }
    for (const Published& figure : published()) {
      if (figure.experiment != experiment.name || figure.cell != cell.cell->name) continue;
      report.facts.emplace_back(fmt::format("the paper, {}, {}", figure.cell, figure.method),
                                fmt::format("{:.3f}", figure.value));
    }
  }
  return report;
}

}  // namespace

void apply_request(const ReproduceRequest& request, const Session& session, Options& options, SearchSpace& space) {
  fix_settings(request.settings, space);
  for (const auto& [name, value] : space.options) set_option(options, name, value);
  space.options.clear();
  apply_settings(request.settings, session, options);
}

int run_paper_experiment(const PaperExperiment& experiment, const ReproduceRequest& request, Session& session) {
  if (!request.out.empty()) require_folder("--out", request.out);
  const std::string file = request.out.empty() ? "" : (std::filesystem::path(request.out) / "results.db").string();
  TrialStore store(file);
  const Options& options = experiment.cells[0].comparison.options;
  Context context = session.context(options.threads);
  std::vector<CellResult> results;
  Plan plan;
  bool interrupted = false;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    plan = plan_within(experiment, request, store, session, context);
    results = run_cells(experiment, request, plan, store, session, context);
    interrupted = context.cancelled();
  }
  for (const CellResult& cell : results) interrupted = interrupted || cell.result.interrupted;
  session.result(table_text(experiment, results));
  const std::string planned = plan_text(experiment, plan, asked_plan(experiment, request), request);
  if (!planned.empty()) session.note("\n" + planned + "\n");
  const Facts told = facts_of(experiment, request, plan, interrupted);
  std::string facts = "\n";
  for (const auto& [name, value] : told) facts += fmt::format("{}: {}\n", name, value);
  session.note(facts + (experiment.remarks.empty() ? "" : "\n" + experiment.remarks + "\n"));
  if (!request.out.empty()) {
    write_results(experiment, request.out, results, store,
                  make_report(experiment, results, told, planned, options.seed, session));
    session.note(
        fmt::format("\n{0}/report.html, {0}/paper.csv and {0}/results.csv are written; {0}/results.db has "
                    "every fit, and the same command goes on from it.\n",
                    request.out));
  }
  session.json(json_cells(experiment, results), options.seed,
               {{"experiment", experiment.name}, {"interrupted", interrupted}});
  if (!interrupted) return kSuccess;
  session.warn(request.out.empty() ? "interrupted: the tables hold what was finished"
                                   : "interrupted: the same command goes on from there");
  return kInterrupted;
}

}  // namespace tocca::cli
