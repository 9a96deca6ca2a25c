/// The figures that the paper published, to show beside ours.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tocca::cli {

/// H. D. Couture, R. Kwitt, J. S. Marron, M. Troester, C. M. Perou, M. Niethammer, Deep multi-view learning via
/// task-optimal CCA, arXiv:1907.07739, 2019.
struct Published {
  std::string_view experiment;
  std::string_view cell;    ///< as `tocca reproduce` calls it
  std::string_view method;  ///< "best other method" where the text names none
  double value;
};
std::span<const Published> published();
std::optional<double> published(std::string_view experiment, std::string_view cell, std::string_view method);

}  // namespace tocca::cli
