/// An experiment of the paper: comparisons of methods, one for each cell of a table or point of a curve.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/session.h"
#include "cli/settings.h"
#include "tocca/search/comparison.h"

namespace tocca::cli {

struct ReproduceRequest {
  std::string experiment;
  std::string data;
  bool synthetic = false;
  Index frames = 100'000;            ///< of synthetic data
  std::vector<Index> sizes;          ///< training sizes; empty: the experiment's own
  std::vector<Index> batch_sizes;    ///< of a curve over batch sizes; empty: none
  std::vector<std::string> labels;   ///< breast: which labels; empty: the experiment's own
  std::vector<double> fractions;     ///< xrmb: shares of the labels
  std::vector<std::string> methods;  ///< empty: the experiment's own
  Index splits = 0;                  ///< 0: the experiment's own
  Index tune = 0;
  Index validation_images = 2000;
  std::optional<double> budget;  ///< hours; nothing: no limit
  SettingsRequest settings;
  std::string out;
};

struct Cell {
  std::string name;
  Comparison comparison;  ///< with all the splits that may be run
};

struct PaperExperiment {
  std::string name;
  std::string title;
  std::vector<Cell> cells = {};  ///< the most important first: a budget cuts from the end
  bool tune_once = false;
  std::string paper_column = "paper";  ///< heading of the published figures
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::string remarks = {};  ///< where ours departs from the paper, for people
};

/// Puts the options of --config and --set over those of an experiment, and takes what they fix out of its space.
void apply_request(const ReproduceRequest& request, const Session& session, Options& options, SearchSpace& space);

/// Runs what fits in the budget, and tells and writes ours beside the paper's. Returns an ExitCode.
int run_paper_experiment(const PaperExperiment& experiment, const ReproduceRequest& request, Session& session);

PaperExperiment mnist_experiment(const ReproduceRequest& request, const Session& session, const Context& context);
PaperExperiment breast_experiment(const ReproduceRequest& request, const Session& session, const Context& context);
PaperExperiment xrmb_experiment(const ReproduceRequest& request, const Session& session, const Context& context);
/// Table S3 is no comparison of methods.
int run_runtime(const ReproduceRequest& request, Session& session);

}  // namespace tocca::cli
