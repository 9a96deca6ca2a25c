/// A comparison of methods as tables and rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tocca/report/report.h"
#include "tocca/search/comparison.h"

namespace tocca::cli {

/// Every score of every method. Of a cross-view metric only those of the protocol, across views first.
std::vector<ResultRow> result_rows(const ComparisonResult& result, const Comparison& comparison);

/// One line a method: the metric compared, then what else was measured of the same kind.
std::string comparison_text(const ComparisonResult& result, const Comparison& comparison);
/// One line a method: difference from the baseline, with the corrected test. "" with a single method.
std::string differences_text(const ComparisonResult& result, const Comparison& comparison);
std::vector<std::pair<std::string, std::string>> difference_facts(const ComparisonResult& result,
                                                                  const Comparison& comparison);

nlohmann::ordered_json json_comparison(const ComparisonResult& result, const Comparison& comparison);
nlohmann::ordered_json json_differences(const ComparisonResult& result, const Comparison& comparison);

/// `method,split,state,reason,METRIC,seconds,how`: each fit, one a line.
void write_splits_csv(std::ostream& out, const ComparisonResult& result, const Comparison& comparison);

/// The same for people: method, split, seconds and how the fit ended.
std::string fits_text(const ComparisonResult& result);

}  // namespace tocca::cli
