/// Search for the settings of a method: random search or a grid, with successive halving where wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/search/resampling.h"
#include "tocca/search/space.h"
#include "tocca/search/trial_runner.h"

namespace tocca {

/// What settings are scored on: samples held out of `training` by resampling, or a validation set.
struct SearchData {
  const Dataset& training;
  const Dataset* validation = nullptr;
};

/// Successive halving: all trials are trained for a share of their epochs, the best 1 / `keep` of them go on to the
/// next rung for `keep` times as many epochs, the rest stops there. K. Jamieson, A. Talwalkar, Non-stochastic best arm
/// identification, AISTATS 2016. The learning rate follows the schedule of the full number of epochs; a rung goes on
/// from the state of the one before, so that no epoch is done twice.
struct Halving {
  Index keep = 3;   ///< ≥ 2
  Index rungs = 3;  ///< ≥ 2, the last one included
};

struct SearchOptions {
  Options options;  ///< what the space does not say
  SearchSpace space;
  ScoringOptions scoring = {.metric = {}, .svm_cost = 1};
  Resampling resampling;  ///< without a validation set
  Index trials = 50;      ///< in all, those in the store included
  std::optional<Halving> halving;
  bool in_order = false;  ///< a small space is gone through in the order given
};

struct SearchResult {
  std::vector<TrialRecord> trials;  ///< by number; with halving each at the last rung it came to
  std::optional<std::size_t> best;  ///< in `trials`: the best of those that went furthest; the first on ties
  Index failed = 0;
  bool interrupted = false;
  std::string reason;  ///< why there is no best one, where all trials were done
};

/// Does the trials of a search as a study of that name in the store. Settings and seeds of the trials, and so their
/// results, depend on the seed, data and options alone: not on threads, processes, interruptions, or how often the
/// number of trials was raised. The held-out samples of a fold decide when its training stops, too.
/// A trial that fails is recorded with its reason. With halving the number of trials belongs to the study, and cannot
/// be raised. Throws InputError: options out of range; no such combination of method and task; a study of that name
/// with other data or options.
SearchResult run_search(TrialStore& store, const std::string& study, const SearchData& data,
                        const SearchOptions& search, const Context& context);

/// Options of a trial.
Options options_of(const SearchOptions& search, const TrialRecord& trial);

/// Makes options and context fit the settings of a trial to everything: nothing is held out, and training ends with the
/// epoch whose weights were kept in the trial (mean over its folds), in the schedule that it had there.
void prepare_refit(Options& options, const TrialRecord& trial, Context& context);
/// Fits the settings of a trial to all of `data` so.
FitResult refit(const Dataset& data, const SearchOptions& search, const TrialRecord& trial, const Context& context);

}  // namespace tocca
