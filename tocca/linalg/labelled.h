/// Which rows have a label, for the methods that are fitted on those only.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca::detail {

struct LabelledRows {
  std::vector<Index> rows;   ///< with a label, ascending (m)
  std::vector<int> classes;  ///< of those rows (m)
  std::vector<int> present;  ///< the classes that occur, ascending

  /// Of which entry of `present` each row is (m).
  [[nodiscard]] std::vector<Index> ordinals() const;
};

/// 1 where a row is of a class that occurs, 0 elsewhere (m × C), classes ascending.
Matrix<double> indicators(const LabelledRows& labelled);

/// The rows with y ≥ 0.
LabelledRows labelled_rows(std::span<const int> y);

/// Throws InputError unless there is one label for each of the rows, from −1 to class_count − 1.
void require_labels(std::string_view where, Index rows, std::span<const int> y, int class_count);

/// Throws InputError unless at least two classes occur.
void require_two_classes(std::string_view where, const LabelledRows& labelled);

}  // namespace tocca::detail
