/// A scatter plot of two components, coloured by class.
#pragma once

#include <string>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// A complete SVG picture: text in the colour of its surroundings, so that it suits a light and a dark page, and both
/// axes on one scale. `points` is (n × 2), rows with a NaN are left out; `codes` (n, or empty: no classes) number
/// `class_names`, −1 is unlabelled. Throws InputError where shapes or codes do not fit.
///
///     std::string picture = svg_scatter(projections, labels.codes, labels.names, "View 1, components 1 and 2");
std::string svg_scatter(ConstMatrixRef<double> points, const std::vector<int>& codes,
                        const std::vector<std::string>& class_names, const std::string& title);

}  // namespace tocca
