/// How much of an experiment fits in the time that there is.
#pragma once

#include <string>
#include <vector>

#include "tocca/search/comparison.h"

namespace tocca::cli {

/// Seconds of one thread for one method of a cell.
struct FitCost {
  double fit = 0;          ///< a fit of all its epochs
  double score = 0;        ///< scoring with a fixed cost of the SVM
  double final_score = 0;  ///< scoring with the cost chosen by cross-validation
  bool tuned = false;      ///< something is searched for it

  /// A search of so many settings that every plan has becomes part of the fit.
  void search(Index settings);
};

/// Measured on the first split by a fit of one epoch, and scaled up.
FitCost measure_cost(const Comparison& comparison, const std::string& method, const Context& context);

/// How many settings are searched, how many splits are run, and of how many cells.
struct Plan {
  Index tune = 0;
  Index splits = 1;
  std::size_t cells = 1;
  double seconds = 0;  ///< expected
};

/// Seconds of the first `cells` cells with so many settings and splits.
double expected_seconds(const std::vector<std::vector<FitCost>>& costs, const Plan& plan, Index threads,
                        bool tune_once);

/// The largest plan that fits, at most what `asked` has: all cells with more and more settings and splits; where not
/// even the least fits, the last cells are left out one by one (the first one is always there). `seconds` ≤ 0: as
/// asked.
Plan make_plan(const std::vector<std::vector<FitCost>>& costs, const Plan& asked, double seconds, Index threads,
               bool tune_once);

}  // namespace tocca::cli
