/// A comparison of methods over splits, as the paper's tables have it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/evaluate/protocol.h"
#include "tocca/methods/methods.h"
#include "tocca/report/report.h"

namespace tocca::cli {

struct ExperimentSplit {
  Dataset training, validation, test;
};

struct Experiment {
  std::vector<std::string> methods;
  Options options;  ///< of every method; split s uses the seed options.seed + s
  std::vector<ExperimentSplit> splits;
  bool keep_models = false;
};

/// One method on one split.
struct Trial {
  std::string method;
  std::size_t split = 0;
  bool finished = false;  ///< false: interrupted
  FittedModel model;      ///< empty unless models are kept
  TrainSummary summary;
  double ridge = 0;           ///< chosen for rcca
  std::vector<Score> scores;  ///< cross-view accuracies on the test set
  double seconds = 0;
};

struct ExperimentResult {
  std::vector<Trial> trials;    ///< split by split, methods in order
  std::vector<ResultRow> rows;  ///< mean and standard error over the finished splits of each method
  bool interrupted = false;
};

/// Ridges that rcca is tried with: the one with the best mean cross-view accuracy on the validation set is taken, the
/// larger one on ties.
inline constexpr double kRidges[] = {1e-3, 1e-2, 1e-1, 1, 10};

/// Fits every method on every split and scores it on the test set by the cross-view protocol. Trials run in parallel on
/// the workers of the context; results don't depend on how many there are. Deep methods stop early on the validation
/// set. Throws InputError for an unknown method and what `fit` throws.
ExperimentResult run_experiment(const Experiment& experiment, const Context& context);

/// Images of side × side pixels, row by row in the first side² columns, cut into the views "left" and "right", each
/// (n × side · side / 2) in the number type of the table.
Views left_and_right(const Table& images, Index side);

/// A table of the trials for people: "tocca-w, split 1: stopped after epoch 31 ...; 2.1 s".
std::string trials_text(const ExperimentResult& result);

}  // namespace tocca::cli
