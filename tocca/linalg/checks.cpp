#include "tocca/linalg/checks.h"

#include <fmt/format.h>

#include <cmath>

#include "tocca/core/error.h"

namespace tocca::detail {

void require_finite(std::string_view where, std::string_view name, ConstMatrixRef<double> x, Index first_row) {
  for (Index i = 0; i < x.rows(); ++i) {
    if (x.row(i).allFinite()) continue;
    for (Index j = 0; j < x.cols(); ++j)
      if (!std::isfinite(x(i, j)))
        throw InputError(where, fmt::format("{}, row {}, column {} (counted from 0): got {}, need a finite number; "
                                            "impute it or drop the row",
                                            name, first_row + i, j, x(i, j)));
  }
}

void require_shape(std::string_view where, std::string_view name, ConstMatrixRef<double> x, Index rows, Index cols) {
  if (x.rows() != rows || x.cols() != cols)
    throw InputError(where, fmt::format("shape of {}: got {} x {}, need {} x {}; check what was passed", name, x.rows(),
                                        x.cols(), rows, cols));
}

void require_equal_rows(std::string_view where, ConstMatrixRef<double> x1, ConstMatrixRef<double> x2) {
  if (x1.rows() != x2.rows())
    throw InputError(where, fmt::format("rows of the two views: got {} and {}, need equal numbers; pair the samples",
                                        x1.rows(), x2.rows()));
}

}  // namespace tocca::detail
