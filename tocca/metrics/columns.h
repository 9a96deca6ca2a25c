/// One column of a matrix of targets or predictions, as the figures of merit take it.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// (n)
std::vector<double> column_values(ConstMatrixRef<double> values, Index column);
/// The same into `numbers` (n).
void column_values(ConstMatrixRef<double> values, Index column, std::span<double> numbers);
/// 1 or 0, and −1 where the number is missing (NaN). (n)
std::vector<int> column_flags(ConstMatrixRef<double> values, Index column);
/// The same into `flags` (n).
void column_flags(ConstMatrixRef<double> values, Index column, std::span<int> flags);

}  // namespace tocca
