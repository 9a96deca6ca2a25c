#include "cli/trial_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/selection.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

constexpr std::size_t kShown = 10;

std::vector<std::string> varied(const SearchResult& result) {
  std::vector<std::string> names;
  if (!result.trials.empty()) {
    for (const auto& [name, value] : result.trials[0].settings) names.push_back(name);
  }
  return names;
}

// Finished trials, the best first; those that came further before those that were stopped.
std::vector<const TrialRecord*> ranked(const SearchResult& result, const Metric& metric) {
  std::vector<const TrialRecord*> trials;
  for (const TrialRecord& trial : result.trials) {
    if (trial.state == TrialState::finished) trials.push_back(&trial);
  }
  std::stable_sort(trials.begin(), trials.end(), [&](const TrialRecord* a, const TrialRecord* b) {
    if (a->rung != b->rung) return a->rung > b->rung;
    return metric.goodness(a->value) > metric.goodness(b->value);
  });
  return trials;
}

Index epochs_of(const TrialRecord& trial) {
  Index epochs = 0;
  for (const FoldRecord& fold : trial.folds) epochs = std::max(epochs, fold.epochs);
  return epochs;
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

}  // namespace

std::string best_trials_text(const SearchResult& result, const Metric& metric) {
  const auto trials = ranked(result, metric);
  // With halving a trial that was stopped early may have a better value than one that was not: another figure.
  const bool rungs = !trials.empty() && trials.front()->rung > 0;
  std::vector<std::vector<std::string>> rows{{"trial", metric.text()}};
  if (rungs) rows[0].insert(rows[0].end(), {"rung", "epochs"});
  for (const std::string& name : varied(result)) rows[0].push_back(name);
  for (const TrialRecord* trial : trials) {
    if (rows.size() > kShown) break;
    rows.push_back({fmt::format("{}", trial->number), value_text(trial->value, trial->standard_error)});
    if (rungs) {
      rows.back().insert(rows.back().end(), {fmt::format("{}", trial->rung), fmt::format("{}", epochs_of(*trial))});
    }
    for (const auto& [name, value] : trial->settings) rows.back().push_back(value);
  }
  std::string text = align(rows);
  if (trials.size() > kShown) text += fmt::format("and {} more\n", trials.size() - kShown);
  return text;
}

void write_trials_csv(const std::string& path, const SearchResult& result, const Metric& metric) {
  write_file(path, [&](std::ostream& out) {
    out << fmt::format("trial,rung,state,reason,seed,{},se,folds,epochs,seconds,version", csv_field(metric.text()));
    for (const std::string& name : varied(result)) out << ',' << csv_field(name);
    out << '\n';
    for (const TrialRecord& t : result.trials) {
      out << fmt::format("{},{},{},{},{},{},{},{},{},{:.3f},{}", t.number, t.rung, name_of(t.state),
                         csv_field(t.reason), t.seed, cell(t.value), cell(t.standard_error), t.folds.size(),
                         epochs_of(t), t.seconds, t.version);
      for (const auto& [name, value] : t.settings) out << ',' << csv_field(value);
      out << '\n';
    }
  });
}

}  // namespace tocca::cli
