#include "cli/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>

#include "tocca/core/error.h"
#include "tocca/metrics/mean.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

// Adds up the progress of trials that run side by side.
class TrialProgress {
 public:
  TrialProgress(std::size_t trials, const Context& context) : shares_(trials, 0), context_(context) {}

  void set(std::size_t trial, double share, const Progress* state) {
    const std::lock_guard lock(mutex_);
    shares_[trial] = share;
    Progress sum{"fit", std::accumulate(shares_.begin(), shares_.end(), 0.0), static_cast<double>(shares_.size()), {}};
    if (state != nullptr) sum.values = state->values;
    context_.report(sum);
  }

 private:
  std::vector<double> shares_;
  const Context& context_;
  std::mutex mutex_;
};

Context context_of_trial(const Context& context, TrialProgress& progress, std::size_t number, const Trial& trial) {
  Context own = context;
  own.log = [&context, &trial](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) context.warn(fmt::format("{}, split {}: {}", trial.method, trial.split + 1, text));
  };
  own.progress = [&progress, number](const Progress& state) {
    progress.set(number, state.total > 0 ? state.done / state.total : 0, &state);
  };
  return own;
}

double mean_cross_view_accuracy(const std::vector<Score>& scores) {
  double sum = 0;
  int count = 0;
  for (const Score& score : scores) {
    if (score.train_view == score.test_view) continue;
    sum += score.value;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double choose_ridge(const ExperimentSplit& split, const Dataset& training, Options options, const Context& context) {
  // A fixed cost: what is compared are the projections, and the search for a cost would take most of the time.
  SvmOptions svm;
  svm.costs = {1};
  options.svm_cost = 1;
  double best = 0;
  double best_accuracy = -1;
  for (const double ridge : kRidges) {
    if (context.cancelled()) break;
    options.ridge = ridge;
    const FittedModel model = fit(training, nullptr, options, context).model;
    const double accuracy = mean_cross_view_accuracy(
        cross_view_scores(model, split.training, split.validation, svm, Rng(options.seed), context));
    if (accuracy >= best_accuracy) {
      best_accuracy = accuracy;
      best = ridge;
    }
  }
  return best;
}

// As the model wants them: with early fusion one view.
Dataset matched(const FittedModel& model, const Dataset& data, const Context& context) {
  return {match_views(model, data.views, context), data.labels, data.targets};
}

void run_trial(Trial& trial, const ExperimentSplit& split, Options options, bool keep_model, const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  options.method = trial.method;
  options.seed += trial.split;
  const Method& method = find_method(trial.method);
  // Without labels CCA does not fit a classifier of its own, which the protocol has no use for.
  const bool unsupervised = !method.needs_labels;
  const Dataset training = unsupervised ? Dataset{split.training.views, {}} : split.training;
  const Dataset validation = unsupervised ? Dataset{split.validation.views, {}} : split.validation;
  if (method.ridge) options.ridge = trial.ridge = choose_ridge(split, training, options, context);
  FitResult fitted = fit(training, &validation, options, context);
  trial.summary = std::move(fitted.summary);
  if (trial.summary.status == TrainStatus::interrupted) return;
  trial.scores = cross_view_scores(fitted.model, matched(fitted.model, split.training, context),
                                   matched(fitted.model, split.test, context), {}, Rng(options.seed), context);
  if (context.cancelled()) return;  // a search that was cut short scores with another cost
  if (keep_model) trial.model = std::move(fitted.model);
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  trial.finished = true;
}

std::vector<Trial> list_trials(const Experiment& experiment) {
  std::vector<Trial> trials;
  for (std::size_t s = 0; s < experiment.splits.size(); ++s) {
    for (const std::string& method : experiment.methods) {
      Trial trial;
      trial.method = find_method(method).name;
      trial.split = s;
      trials.push_back(std::move(trial));
    }
  }
  return trials;
}

// The rows of one method, across views first; the scores of its trials come in the same order in every split.
void add_rows(std::vector<ResultRow>& rows, const std::string& method, Index n, const std::vector<Trial>& trials) {
  std::vector<const Trial*> finished;
  for (const Trial& trial : trials) {
    if (trial.method == method && trial.finished) finished.push_back(&trial);
  }
  if (finished.empty()) return;
  const auto before = static_cast<std::ptrdiff_t>(rows.size());
  for (std::size_t i = 0; i < finished.front()->scores.size(); ++i) {
    const Score& score = finished.front()->scores[i];
    std::vector<double> values;
    values.reserve(finished.size());
    for (const Trial* trial : finished) values.push_back(trial->scores[i].value);
    const MeanAndError mean = mean_and_standard_error(values);
    rows.push_back(
        {method, n, score.train_view, score.test_view, score.metric, mean.mean, mean.standard_error, mean.count});
  }
  std::stable_partition(rows.begin() + before, rows.end(),
                        [](const ResultRow& row) { return row.train_view != row.test_view; });
}

// Columns from `first` of each image row, for all images, packed in the table's own number type.
Table cut(const Table& images, Index side, Index first_column) {
  const Index width = side / 2;
  return images.visit([&](auto first, Index row_stride, Index column_stride) {
    using Number = std::remove_cvref_t<decltype(*first)>;
    const auto pixels = std::make_shared<std::vector<Number>>();
    pixels->reserve(static_cast<std::size_t>(images.rows() * side * width));
    for (Index i = 0; i < images.rows(); ++i) {
      for (Index y = 0; y < side; ++y) {
        for (Index x = 0; x < width; ++x) {
          pixels->push_back(first[i * row_stride + (y * side + first_column + x) * column_stride]);
        }
      }
    }
    return Table(pixels, pixels->data(), images.type(), images.rows(), side * width, side * width, 1);
  });
}

View half(const Table& images, Index side, Index first_column, const std::string& name) {
  View view{name, {}, cut(images, side, first_column), std::vector<Index>(static_cast<std::size_t>(images.rows()))};
  std::iota(view.row_of_sample.begin(), view.row_of_sample.end(), Index{0});
  for (Index y = 0; y < side; ++y) {
    for (Index x = 0; x < side / 2; ++x) view.features.push_back(fmt::format("y{}_x{}", y, first_column + x));
  }
  return view;
}

}  // namespace

ExperimentResult run_experiment(const Experiment& experiment, const Context& context) {
  ExperimentResult result;
  result.trials = list_trials(experiment);
  TrialProgress progress(result.trials.size(), context);
  context.parallel(static_cast<Index>(result.trials.size()), [&](Index number) {
    if (context.cancelled()) return;
    const auto t = static_cast<std::size_t>(number);
    Trial& trial = result.trials[t];
    try {
      run_trial(trial, experiment.splits[trial.split], experiment.options, experiment.keep_models,
                context_of_trial(context, progress, t, trial));
    } catch (const Interrupted&) {  // the trial counts as unfinished, like those that were not begun
    }
    if (trial.finished) progress.set(t, 1, nullptr);
  });
  const Index n = experiment.splits.empty() ? 0 : experiment.splits.front().training.views.size();
  for (const std::string& method : experiment.methods) add_rows(result.rows, method, n, result.trials);
  result.interrupted = !std::all_of(result.trials.begin(), result.trials.end(), [](auto& t) { return t.finished; });
  return result;
}

Views left_and_right(const Table& images, Index side) {
  Views views;
  for (Index i = 0; i < images.rows(); ++i) views.samples.push_back(std::to_string(i));
  views.views = {half(images, side, 0, "left"), half(images, side, side / 2, "right")};
  return views;
}

std::string trials_text(const ExperimentResult& result) {
  std::vector<std::vector<std::string>> rows{{"method", "split", "seconds", "how it ended"}};
  for (const Trial& trial : result.trials) {
    std::string end = trial.summary.message.empty() ? "closed form" : trial.summary.message;
    if (trial.ridge > 0) end += fmt::format(", ridge {}", trial.ridge);
    rows.push_back({trial.method, fmt::format("{}", trial.split + 1), fmt::format("{:.1f}", trial.seconds),
                    trial.finished ? end : "interrupted"});
  }
  return align(rows);
}

}  // namespace tocca::cli
