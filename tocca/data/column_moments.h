/// Mean and variation of each column of a table.
#pragma once

#include <span>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/data/table.h"

namespace tocca {

/// Of the values that are not NaN, each (d).
struct ColumnMoments {
  RowVector<double> count;
  RowVector<double> mean;     ///< 0 where the count is 0
  RowVector<double> squares;  ///< sum of squared deviations from the mean
};

/// Over the given rows, in float64. Chunks of fixed size are computed in two passes each and merged in order
/// (T. Chan, G. Golub, R. LeVeque, Algorithms for computing the sample variance, Am. Stat. 37, 1983), so that the
/// result depends neither on the number of threads nor on how large the values are beside their variation. A column
/// with an infinite value, or whose squares overflow, has a mean or squares that are not finite.
ColumnMoments column_moments(const Table& table, std::span<const Index> rows, const Context& context);

}  // namespace tocca
