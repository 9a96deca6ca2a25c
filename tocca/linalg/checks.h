/// Checks of what callers hand in, shared by the functions that take whole views.
#pragma once

#include <string_view>

#include "tocca/core/matrix.h"

namespace tocca::detail {

/// Throws InputError naming the first entry that is not finite, as `[where] name, row i, column j: ...`. `x` may
/// be a piece of the named matrix that starts at first_row.
void require_finite(std::string_view where, std::string_view name, ConstMatrixRef<double> x, Index first_row = 0);

/// Throws InputError unless x is rows × cols.
void require_shape(std::string_view where, std::string_view name, ConstMatrixRef<double> x, Index rows, Index cols);

/// Throws InputError unless the two have as many rows.
void require_equal_rows(std::string_view where, ConstMatrixRef<double> x1, ConstMatrixRef<double> x2);

}  // namespace tocca::detail
