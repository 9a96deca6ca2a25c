/// What a run, a comparison or a search has to tell: result rows and figures. This folder renders, it does not compute.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// One number of a result, with what it was measured on.
struct ResultRow {
  std::string method;
  Index n = 0;                ///< training samples
  std::string train_view;     ///< what the classifier or model learned from; empty where that means nothing
  std::string test_view;      ///< what it was tested on; empty where that means nothing
  std::string metric;         ///< for instance "accuracy"; larger counts as better
  double mean = 0;            ///< over the splits; NaN: could not be measured
  double standard_error = 0;  ///< of the mean; NaN: not known, as with one split
  Index splits = 1;
};

/// A picture for the page. `svg` goes in as it is, so it must come from a trusted place such as `svg_scatter`.
struct Figure {
  std::string title;
  std::string svg;
};

struct Report {
  std::string command;  ///< the command line that made it
  std::string version;  ///< of the library
  std::uint64_t seed = 0;
  std::string title;
  std::vector<ResultRow> rows;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, such as {"samples", "1000"}
  std::vector<Figure> figures;
};

}  // namespace tocca
