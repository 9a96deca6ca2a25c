/// The results of one metric as dots with error bars.
#pragma once

#include <string>

#include "tocca/report/grid.h"

namespace tocca::detail {

/// An SVG picture: a row per line of the grid, within it a dot per column that has this metric, coloured by column,
/// with a bar of ± one standard error. Empty where there is nothing to show.
std::string dot_plot(const Grid& grid, const std::string& metric);

}  // namespace tocca::detail
