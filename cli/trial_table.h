/// Trials of a search as tables.
#pragma once

#include <string>

#include "tocca/search/search.h"

namespace tocca::cli {

/// The best ten trials, with what was varied, for people.
std::string best_trials_text(const SearchResult& result, const Metric& metric);

/// All trials, one a line: `trial,rung,state,reason,seed,METRIC,se,folds,epochs,seconds,version` and what was varied.
void write_trials_csv(const std::string& path, const SearchResult& result, const Metric& metric);

}  // namespace tocca::cli
