/// Points against two axes with their scales, for instance a figure of merit against another.
#pragma once

#include <string>
#include <vector>

namespace tocca {

struct PlotSeries {
  std::string name;
  std::vector<double> x, y;  ///< of equal length; a point that is not finite is left out
};

/// A complete SVG picture, text in the colour of its surroundings: a dot for each point, coloured by series, with a
/// legend. Throws InputError where a series has more x than y, or the other way round.
std::string svg_plot(const std::vector<PlotSeries>& series, const std::string& x_label, const std::string& y_label);

}  // namespace tocca
