#include "tocca/linalg/labelled.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"

namespace tocca::detail {

std::vector<Index> LabelledRows::ordinals() const {
  std::vector<Index> result;
  for (const int c : classes) result.push_back(std::lower_bound(present.begin(), present.end(), c) - present.begin());
  return result;
}

Matrix<double> indicators(const LabelledRows& labelled) {
  Matrix<double> ones =
      Matrix<double>::Zero(static_cast<Index>(labelled.rows.size()), static_cast<Index>(labelled.present.size()));
  const std::vector<Index> ordinals = labelled.ordinals();
  for (std::size_t i = 0; i < ordinals.size(); ++i) ones(static_cast<Index>(i), ordinals[i]) = 1;
  return ones;
}

LabelledRows labelled_rows(std::span<const int> y) {
  LabelledRows labelled;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] < 0) continue;
    labelled.rows.push_back(static_cast<Index>(i));
    labelled.classes.push_back(y[i]);
  }
  labelled.present = labelled.classes;
  std::sort(labelled.present.begin(), labelled.present.end());
  labelled.present.erase(std::unique(labelled.present.begin(), labelled.present.end()), labelled.present.end());
  return labelled;
}

void require_labels(std::string_view where, Index rows, std::span<const int> y, int class_count) {
  if (static_cast<Index>(y.size()) != rows)
    throw InputError(where, fmt::format("number of labels: got {}, need {}, one for each row; use -1 for unlabelled",
                                        y.size(), rows));
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i] < -1 || y[i] >= class_count)
      throw InputError(where, fmt::format("class of row {} (counted from 0): got {}, need -1 to {}; mend the labels", i,
                                          y[i], class_count - 1));
}

void require_two_classes(std::string_view where, const LabelledRows& labelled) {
  if (labelled.present.size() < 2)
    throw InputError(where, fmt::format("classes with samples: got {}, need at least 2; add labelled samples of others",
                                        labelled.present.size()));
}

}  // namespace tocca::detail
