/// Methods compared on the same splits, as the paper's tables have it, with settings searched inside each training
/// part.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/metrics/mean.h"
#include "tocca/metrics/paired.h"
#include "tocca/search/search.h"

namespace tocca {

struct ComparisonSplit {
  Dataset training;
  std::optional<Dataset> validation;  ///< for early stopping and the search; none: parts of `training` are held out
  Dataset test;
};

struct Comparison {
  std::string study = "compare";                      ///< what the studies in the store are called: "STUDY METHOD"
  std::vector<std::string> methods;                   ///< distinct
  Options options;                                    ///< of every method; split s uses the seed options.seed + s
  std::map<std::string, NamedTexts> options_of = {};  ///< of single methods, over the common ones
  std::vector<ComparisonSplit> splits;
  ScoringOptions scoring;
  /// Settings are searched in `space`, as far as it has an effect on a method, with `tune` trials in each split; 0:
  /// none.
  SearchSpace space = {};
  Index tune = 0;
  Resampling inner = {};  ///< of the search, where there is no validation set
  bool in_order = false;  ///< SearchOptions
  /// The settings found with the training part and validation set of the first split serve all splits. Only for test
  /// parts that no split learns from: otherwise the search would have seen them.
  bool tune_once = false;
  std::string baseline = {};  ///< what others are compared with; empty: the first method
  /// Called with every model that is fitted, from the threads that fit them; not for results that the store has.
  std::function<void(const std::string& method, std::size_t split, FittedModel model)> fitted = {};
};

/// Scores of one kind of a method, over the splits that it was finished on.
struct ComparedScore {
  std::string method;
  Index n = 0;  ///< training samples of the first split
  Score what;   ///< views, metric and target
  MeanAndError mean;
};

struct MethodOutcome {
  std::string method;
  std::vector<TrialRecord> splits;  ///< by number of the split; the settings chosen are in each
  MeanAndError mean;                ///< of the metric
  PairedTest difference;            ///< from the baseline; count 0 for itself
};

struct ComparisonResult {
  std::vector<MethodOutcome> methods;
  std::vector<ComparedScore> scores;
  Index failed = 0;
  bool interrupted = false;
};

/// Fits every method on every split and scores it on the test part, which nothing else looks at: preprocessing, the
/// search of settings, early stopping and every other part of the fit see the training part (and validation set) alone.
/// With a search over resampled training parts the best settings are then fitted to the whole training part (see
/// `refit`); with a validation set, training stops by it. Results are kept in the store and taken from there, so that a
/// comparison goes on where it stopped; several processes may share it.
/// A split's data are part of what the store knows of it: another split of the same number is refused.
/// Throws InputError: an unknown or repeated method, no splits, tune_once without validation set, options out of range,
/// a study of the same name with another description; Error when every fit failed.
ComparisonResult run_comparison(TrialStore& store, const Comparison& comparison, const Context& context);

/// The options of a method before anything is searched.
Options options_for(const Comparison& comparison, const std::string& method);

}  // namespace tocca
