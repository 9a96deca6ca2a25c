/// Doing the trials of a study, in as many threads as there are, beside whatever other processes do.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "tocca/core/context.h"
#include "tocca/search/metric.h"
#include "tocca/search/trial_store.h"

namespace tocca {

/// A trial failed by what it is: its settings do not fit the data, its training diverged, nothing could be measured.
class TrialFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is to be done: the trials below `limit` in one rung of a study.
struct TrialWork {
  TrialStore& store;
  TrialStore::Study study;
  Index rung = 0;
  Index limit = 0;
  Index folds = 1;             ///< fits of a trial
  std::string title;           ///< in progress and messages
  std::string unit = "trial";  ///< what a trial is called; a split is counted from 1
  Metric metric;               ///< for the best so far
  bool tells_best = true;      ///< a message for each trial that is better than all before
  /// Does one fold. TrialFailed makes the trial fail with that reason, and the others go on. Interrupted gives it back.
  /// So does anything else (a full disk, no memory), which then ends the work of all threads and is thrown on.
  /// `context` has the file for the state of its training.
  std::function<FoldRecord(const TrialRecord&, Index fold, const Context& context)> run;
};

/// Works on several studies, one after the other. Returns when none of the trials is waiting or running, here or in
/// another process; false when the context was cancelled before that. A trial takes one thread where there are more
/// trials than one, so that the work of a search is spread as widely as can be; results do not depend on it.
bool run_trials(std::span<const TrialWork> works, const Context& context);

/// A fit and its scores.
struct FoldFit {
  const Dataset& training;
  const Dataset* validation;  ///< for early stopping; null: options.validation is held out of `training`
  const Dataset& test;        ///< scored on
  Options options;
  ScoringOptions scoring;
};
/// What a method learns from: `data` without labels, where the metric is of the cross-view protocol and the method does
/// not need them. With labels CCA would fit a classifier of its own, which the protocol has no use for.
Dataset learnt_data(const Dataset& data, const ScoringOptions& scoring, const Options& options);
/// One fold. `model`, where not null, receives what was fitted. A state in context.checkpoint that is of another fit,
/// or damaged, is removed. Throws Interrupted when the context was cancelled; TrialFailed when training diverged, or
/// with what `fit` throws for these settings and data; CheckpointError and std::bad_alloc as they are.
FoldRecord fit_fold(const FoldFit& fold, FittedModel* model, const Context& context);

}  // namespace tocca
