/// Random matrices and bounds for tests of products.
#pragma once

#include <limits>
#include <string_view>

#include "tocca/core/rng.h"
#include "tocca/testing/matchers.h"

namespace tocca::testing {

template <class S>
Matrix<S> random(Index rows, Index columns, std::string_view name) {
  Rng rng = Rng(4).split(name);
  return random_matrix(rng, rows, columns).template cast<S>();
}

/// The largest deviation of c from what it should be; NaN where c or `want` has one.
template <class S>
double largest_deviation(const Matrix<S>& c, const Matrix<double>& want) {
  return (c.template cast<double>() - want).cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
}

/// Of sums of k products of normal numbers. Partial sums of j of them are about √j, and so many last places are rounded
/// off: all k roundings together about k/3. The largest of the deviations is some five times that.
template <class S>
double rounding_of_sums(Index k) {
  return 4 * std::numeric_limits<S>::epsilon() * static_cast<double>(k + 8);
}

}  // namespace tocca::testing
