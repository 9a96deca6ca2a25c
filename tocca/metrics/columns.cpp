#include "tocca/metrics/columns.h"

#include <cmath>

namespace tocca {

void column_values(ConstMatrixRef<double> values, Index column, std::span<double> numbers) {
  for (Index i = 0; i < values.rows(); ++i) numbers[static_cast<std::size_t>(i)] = values(i, column);
}

std::vector<double> column_values(ConstMatrixRef<double> values, Index column) {
  std::vector<double> numbers(static_cast<std::size_t>(values.rows()));
  column_values(values, column, numbers);
  return numbers;
}

void column_flags(ConstMatrixRef<double> values, Index column, std::span<int> flags) {
  for (Index i = 0; i < values.rows(); ++i) {
    const double value = values(i, column);
    flags[static_cast<std::size_t>(i)] = std::isnan(value) ? -1 : static_cast<int>(value);
  }
}

std::vector<int> column_flags(ConstMatrixRef<double> values, Index column) {
  std::vector<int> flags(static_cast<std::size_t>(values.rows()));
  column_flags(values, column, flags);
  return flags;
}

}  // namespace tocca
