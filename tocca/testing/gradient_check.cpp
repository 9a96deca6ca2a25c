#include "tocca/testing/gradient_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tocca/core/error.h"

namespace tocca::testing {
namespace {

double difference(double numeric, double analytic) {
  if (!std::isfinite(numeric) || !std::isfinite(analytic)) return std::numeric_limits<double>::infinity();
  return std::abs(numeric - analytic) / std::max({1.0, std::abs(numeric), std::abs(analytic)});
}

}  // namespace

double max_gradient_error(const std::function<double(const Matrix<double>&)>& loss, const Matrix<double>& at,
                          const Matrix<double>& gradient, double step) {
  if (gradient.rows() != at.rows() || gradient.cols() != at.cols())
    throw InputError("max_gradient_error",
                     fmt::format("shape of the gradient: got {} x {}, need {} x {}; pass one entry for each of `at`",
                                 gradient.rows(), gradient.cols(), at.rows(), at.cols()));
  if (!(step > 0) || !std::isfinite(step))
    throw InputError("max_gradient_error", fmt::format("step: got {}, need a positive number; use 1e-6", step));
  Matrix<double> x = at;
  double worst = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      x(i, j) = at(i, j) + step;
      const double above = loss(x);
      x(i, j) = at(i, j) - step;
      const double below = loss(x);
      x(i, j) = at(i, j);
      worst = std::max(worst, difference((above - below) / (2 * step), gradient(i, j)));
    }
  return worst;
}

}  // namespace tocca::testing
