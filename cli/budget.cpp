#include "cli/budget.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/timing.h"
#include "tocca/methods/resolve.h"
#include "tocca/search/trial_runner.h"

namespace tocca::cli {
namespace {

// Settings and splits are raised in these steps.
constexpr std::pair<Index, Index> kSteps[] = {{0, 1},  {0, 2},  {5, 2},  {10, 2}, {10, 3},
                                              {20, 3}, {30, 5}, {50, 5}, {50, 8}, {100, 10}};

// Of the cross-validation that chooses the SVM's cost: 15 costs in 5 folds, each of four fifths.
constexpr double kFitsOfCostSearch = 60;

}  // namespace

void FitCost::search(Index settings) {
  if (tuned) fit += static_cast<double>(settings) * (fit + score);
  tuned = false;
}

FitCost measure_cost(const Comparison& comparison, const std::string& method, const Context& context) {
  const ComparisonSplit& split = comparison.splits[0];
  Options options = options_for(comparison, method);
  const Method resolved = resolve(options, options.fusion == "early" ? 1 : split.training.views.count());
  const bool deep = resolved.family == Family::deep;
  const auto epochs = static_cast<double>(options.epochs + (resolved.pretraining ? options.pretrain_epochs : 0));
  options.epochs = 1;
  options.pretrain_epochs = 1;
  Context alone = context;
  alone.workers = nullptr;
  alone.progress = {};
  alone.log = {};
  const Dataset training = learnt_data(split.training, comparison.scoring, options);
  std::optional<Dataset> validation;
  if (split.validation) validation = learnt_data(*split.validation, comparison.scoring, options);
  const auto start = Clock::now();
  const FitResult fitted = fit(training, validation ? &*validation : nullptr, options, alone);
  FitCost cost;
  cost.fit = seconds_since(start) * (deep ? epochs / (resolved.pretraining ? 2 : 1) : 1);
  const auto scoring = Clock::now();
  score_model(fitted.model, split.training, split.test, {comparison.scoring.metric, 1}, Rng(1), alone);
  cost.score = seconds_since(scoring);
  cost.final_score = cost.score * (comparison.scoring.metric.cross_view() ? kFitsOfCostSearch : 1);
  cost.tuned = !restrict_space(comparison.space, resolved).parameters.empty();
  return cost;
}

double expected_seconds(const std::vector<std::vector<FitCost>>& costs, const Plan& plan, Index threads,
                        bool tune_once) {
  double seconds = 0;
  const auto splits = static_cast<double>(plan.splits);
  for (std::size_t c = 0; c < std::min(plan.cells, costs.size()); ++c) {
    for (const FitCost& cost : costs[c]) {
      seconds += splits * (cost.fit + cost.final_score);
      const double searches = tune_once ? 1 : splits;
      if (cost.tuned) seconds += searches * static_cast<double>(plan.tune) * (cost.fit + cost.score);
    }
  }
  return seconds / static_cast<double>(std::max<Index>(threads, 1));
}

Plan make_plan(const std::vector<std::vector<FitCost>>& costs, const Plan& asked, double seconds, Index threads,
               bool tune_once) {
  Plan best = asked;
  best.seconds = expected_seconds(costs, best, threads, tune_once);
  if (seconds <= 0 || best.seconds <= seconds) return best;
  for (std::size_t cells = asked.cells; cells >= 1; --cells) {
    bool fits = false;
    for (const auto& [tune, splits] : kSteps) {
      Plan plan{std::min(tune, asked.tune), std::min(splits, asked.splits), cells, 0};
      plan.seconds = expected_seconds(costs, plan, threads, tune_once);
      if (fits && plan.seconds > seconds) break;
      if (plan.seconds > seconds && cells > 1) break;
      best = plan;
      fits = true;
    }
    if (fits) break;
  }
  return best;
}

}  // namespace tocca::cli
