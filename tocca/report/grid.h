/// Result rows arranged for reading: a line per method, a column per combination of views and metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tocca/report/report.h"

namespace tocca::detail {

struct GridColumn {
  std::string train_view, test_view, metric;
  /// "left → right", with the metric where the report has several.
  std::string label;
};

struct GridCell {
  double mean = 0;
  double standard_error = 0;
  bool best = false;  ///< largest mean of its column among lines of the same n, ties as displayed included
};

struct GridLine {
  std::string method;
  Index n = 0;
  std::string label;                           ///< the method, with n where the report has several
  std::vector<std::optional<GridCell>> cells;  ///< one per column; absent: no row or a mean that is not finite
};

struct Grid {
  std::vector<GridColumn> columns;
  std::vector<GridLine> lines;
  bool several_n = false;
  std::string caption;  ///< what the cells are: "accuracy, mean ± standard error over 5 splits"
};

/// Lines and columns come in the order of their first rows; where two rows name the same cell, the later one counts.
Grid arrange(const std::vector<ResultRow>& rows);

/// "0.855 ± 0.003", or "0.855" where the error is not known; "–" where there is nothing.
std::string cell_text(const std::optional<GridCell>& cell);

}  // namespace tocca::detail
