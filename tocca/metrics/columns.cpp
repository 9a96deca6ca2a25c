#include "tocca/metrics/columns.h"

#include <cmath>

namespace tocca {

std::vector<double> column_values(ConstMatrixRef<double> values, Index column) {
  std::vector<double> numbers(static_cast<std::size_t>(values.rows()));
  for (Index i = 0; i < values.rows(); ++i) numbers[static_cast<std::size_t>(i)] = values(i, column);
  return numbers;
}

std::vector<int> column_flags(ConstMatrixRef<double> values, Index column) {
  std::vector<int> flags(static_cast<std::size_t>(values.rows()), -1);
  for (Index i = 0; i < values.rows(); ++i) {
    if (!std::isnan(values(i, column))) flags[static_cast<std::size_t>(i)] = static_cast<int>(values(i, column));
  }
  return flags;
}

}  // namespace tocca
