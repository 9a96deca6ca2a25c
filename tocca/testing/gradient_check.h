/// A check of hand-written gradients, for the library's tests and for users' own operations.
#pragma once

#include <functional>

#include "tocca/core/matrix.h"

namespace tocca::testing {

/// Compares `gradient` (n × d), claimed to be ∂loss/∂x at x = `at` (n × d), with central differences of `step` in every
/// entry: the largest |numeric − analytic| / max(1, |numeric|, |analytic|). About 1e-8 for a right gradient of a smooth
/// loss of order one at the default step; infinity where either side is not finite. `loss` is called 2 n d times.
///
/// Throws InputError if the shapes differ or the step is not positive.
///
/// Example:
///     auto loss = [](const Matrix<double>& x) { return 0.5 * x.squaredNorm(); };
///     EXPECT_LT(max_gradient_error(loss, x, x), 1e-7);
double max_gradient_error(const std::function<double(const Matrix<double>&)>& loss, const Matrix<double>& at,
                          const Matrix<double>& gradient, double step = 1e-6);

}  // namespace tocca::testing
