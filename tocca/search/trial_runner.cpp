#include "tocca/search/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "tocca/core/error.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Index unfinished(std::span<const TrialWork> works) {
  Index count = 0;
  for (const TrialWork& work : works) count += work.store.unfinished(work.study, work.rung, work.limit);
  return count;
}

// "search, trial 3".
std::string label_of(const TrialWork& work, const TrialRecord& trial) {
  return fmt::format("{}, {} {}", work.title, work.unit, trial.number + (work.unit == "trial" ? 0 : 1));
}

// Adds up what the trials of this process, side by side, and those of others have done.
class Board {
 public:
  Board(std::span<const TrialWork> works, Index left, std::size_t threads, const Context& context)
      : works_(works), context_(context), left_(left), shares_(threads, 0), best_(works.size(), kNaN) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      for (const TrialRecord& trial : works[w].store.trials(works[w].study)) {
        if (trial.rung != works[w].rung || trial.number >= works[w].limit) continue;
        ++total_;
        if (trial.state == TrialState::finished) take(w, trial.value);
      }
    }
  }

  void set(std::size_t thread, double share) {
    const std::lock_guard lock(mutex_);
    shares_[thread] = share;
    report();
  }

  // Each message once: the same words come from many trials.
  void warn(const std::string& about, std::string_view text) {
    {
      const std::lock_guard lock(mutex_);
      if (!told_.emplace(text).second) return;
    }
    context_.warn(fmt::format("{}: {}", about, text));
  }

  void finished(std::size_t thread, const TrialWork& work, const TrialRecord& trial, double value) {
    const std::lock_guard lock(mutex_);
    shares_[thread] = 0;
    if (take(static_cast<std::size_t>(&work - works_.data()), value) && work.tells_best) {
      context_.info(fmt::format("{}: {} {:.4g}, the best so far", label_of(work, trial), work.metric.text(), value));
    }
    left_ = unfinished(works_);
    report();
    changed_.notify_all();
  }

  // What happened to one thread ends the others, too.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  // Until a trial of this process is finished, or that time is over.
  void wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    if (!stopped_) changed_.wait_for(lock, time);
  }

 private:
  // Whether it is the best of that work so far.
  bool take(std::size_t work, double value) {
    double& best = best_[work];
    const Metric& metric = works_[work].metric;
    if (std::isnan(value) || (!std::isnan(best) && metric.goodness(value) <= metric.goodness(best))) return false;
    best = value;
    return true;
  }

  void report() {
    if (!context_.progress) return;
    double done = static_cast<double>(total_ - left_);
    for (const double share : shares_) done += share;
    Progress state{works_.front().title, std::min(done, static_cast<double>(total_)), static_cast<double>(total_), {}};
    if (works_.size() == 1 && !std::isnan(best_[0])) state.values.emplace_back("best", best_[0]);
    context_.report(state);
  }

  std::span<const TrialWork> works_;
  const Context& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::set<std::string, std::less<>> told_;
  Index total_ = 0;
  Index left_ = 0;
  std::vector<double> shares_;  // of the trial that each thread is at
  std::vector<double> best_;    // of each work
};

Context context_of_fold(const TrialWork& work, const TrialStore::Claim& claim, Index fold, Board& board,
                        std::size_t thread, const Context& context) {
  Context own = context;
  own.checkpoint = work.store.checkpoint(claim, fold);
  own.log = [&work, &claim, &board](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) board.warn(label_of(work, claim.record), text);
  };
  own.progress = [&work, &board, thread, fold](const Progress& state) {
    const double share = state.total > 0 ? state.done / state.total : 0;
    board.set(thread, (static_cast<double>(fold) + share) / static_cast<double>(work.folds));
  };
  return own;
}

// The folds that an earlier owner did not finish.
void run_folds(const TrialWork& work, const TrialStore::Claim& claim, Board& board, std::size_t thread,
               const Context& context) {
  const auto& done = claim.record.folds;
  for (Index fold = 0; fold < work.folds; ++fold) {
    if (std::any_of(done.begin(), done.end(), [&](const FoldRecord& f) { return f.fold == fold; })) continue;
    const Context own = context_of_fold(work, claim, fold, board, thread, context);
    FoldRecord record = work.run(claim.record, fold, own);
    record.fold = fold;
    if (!work.store.keep_fold(claim, record)) return;  // another process does the same work
  }
}

// False: interrupted.
bool run_trial(const TrialWork& work, const TrialStore::Claim& claim, Board& board, std::size_t thread,
               const Context& context) {
  try {
    run_folds(work, claim, board, thread, context);
    board.finished(thread, work, claim.record, work.store.finish(claim).value_or(kNaN));
  } catch (const Interrupted&) {
    work.store.release(claim);
    return false;
  } catch (const TrialFailed& failure) {
    work.store.fail(claim, failure.what());
    work.store.forget_checkpoints(claim, work.folds);
    board.warn(label_of(work, claim.record) + " failed", failure.what());
    board.finished(thread, work, claim.record, kNaN);
  } catch (...) {
    board.stop();
    try {
      work.store.release(claim);
    } catch (const Error&) {  // it expires
    }
    throw;
  }
  return true;
}

// Claims and does one trial of the first work that has one. False: there was none, or it was interrupted.
bool run_next(std::span<const TrialWork> works, Board& board, std::size_t thread, const Context& context) {
  for (const TrialWork& work : works) {
    if (const auto claim = work.store.claim(work.study, work.rung, work.limit)) {
      return run_trial(work, *claim, board, thread, context);
    }
  }
  return false;
}

// Until nothing is left, other processes' trials included: one that dies leaves its trials to us. The longer there is
// nothing to do the more seldom we look.
void run_until_done(std::span<const TrialWork> works, Board& board, std::size_t thread, const Context& context) {
  constexpr std::chrono::milliseconds kShortest{20}, kLongest{1000};
  std::chrono::milliseconds pause = kShortest;
  while (!context.cancelled() && !board.stopped()) {
    if (run_next(works, board, thread, context)) {
      pause = kShortest;
      continue;
    }
    if (context.cancelled() || unfinished(works) == 0) return;
    board.wait(pause);
    pause = std::min(2 * pause, kLongest);
  }
}

}  // namespace

Dataset learnt_data(const Dataset& data, const ScoringOptions& scoring, const Options& options) {
  Dataset seen = data;
  if (!scoring.metric.cross_view() || find_method(options.method).needs_labels) return seen;
  seen.labels = {};
  seen.targets.clear();
  return seen;
}

namespace {

FoldRecord fit_and_score(const FoldFit& fold, FittedModel* model, const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const auto seen = [&](const Dataset& data) { return learnt_data(data, fold.scoring, fold.options); };
  const Dataset training = seen(fold.training);
  std::optional<Dataset> validation;
  if (fold.validation != nullptr) validation = seen(*fold.validation);
  FitResult fitted = fit(training, validation ? &*validation : nullptr, fold.options, context);
  const TrainSummary& summary = fitted.summary;
  if (summary.status == TrainStatus::interrupted) throw Interrupted("fit", summary.message);
  if (summary.status == TrainStatus::diverged) throw Error("fit", summary.message);
  FoldRecord record;
  record.scores = score_model(fitted.model, fold.training, fold.test, fold.scoring, Rng(fold.options.seed), context);
  if (context.cancelled()) throw Interrupted("fit", "interrupted while it was scored");
  record.value = value_of(fold.scoring.metric, record.scores);
  record.status = name_of(summary.status);
  record.message = summary.message;
  record.epochs = summary.epochs;
  record.best_epoch = summary.best_epoch;
  record.history = fitted.summary.history;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (model != nullptr) *model = std::move(fitted.model);
  return record;
}

}  // namespace

bool run_trials(std::span<const TrialWork> works, const Context& context) {
  const Index left = unfinished(works);
  if (left == 0) return true;
  if (context.cancelled()) return false;
  const Index threads = std::min<Index>(left, context.workers ? context.workers->threads() : 1);
  Board board(works, left, static_cast<std::size_t>(threads), context);
  context.parallel(threads,
                   [&](Index thread) { run_until_done(works, board, static_cast<std::size_t>(thread), context); });
  return unfinished(works) == 0;
}

FoldRecord fit_fold(const FoldFit& fold, FittedModel* model, const Context& context) {
  std::error_code ignored;
  bool has_state = !context.checkpoint.empty() && std::filesystem::exists(context.checkpoint, ignored);
  for (;;) {
    try {
      return fit_and_score(fold, model, context);
    } catch (const Interrupted&) {
      throw;
    } catch (const CheckpointError&) {
      throw;
    } catch (const Error& error) {
      if (!has_state) throw TrialFailed(error.what());
      // Perhaps it is the state that is wrong; without it the fit begins anew.
      std::filesystem::remove(context.checkpoint, ignored);
      has_state = false;
    }
  }
}

}  // namespace tocca
