#include "tocca/metrics/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/metrics/checks.h"
#include "tocca/metrics/mean.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void require_targets(const char* where, std::span<const double> predicted, std::span<const double> truth) {
  detail::require_one_for_each(where, "predictions", predicted.size(), "true value", truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (std::isinf(truth[i]))
      throw InputError(where, fmt::format("truth of sample {} (counted from 0): got {}, need a finite number, or NaN "
                                          "for a missing one; check the data",
                                          i, truth[i]));
    if (!std::isnan(truth[i])) detail::require_number(where, "prediction", i, predicted[i]);
  }
}

double mean_square(std::span<const double> predicted, std::span<const double> truth) {
  detail::GatheredMean square;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (!std::isnan(truth[i])) square.add((truth[i] - predicted[i]) * (truth[i] - predicted[i]));
  return square.value();
}

}  // namespace

double r_squared(std::span<const double> predicted, std::span<const double> truth) {
  require_targets("r_squared", predicted, truth);
  detail::GatheredMean mean;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : truth) {
    if (std::isnan(value)) continue;
    mean.add(value);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Not by the scatter being zero: the mean of equal numbers is rounded.
  if (!(least < most)) return kNaN;
  const std::vector<double> constant(truth.size(), mean.value());
  return 1 - mean_square(predicted, truth) / mean_square(constant, truth);
}

double root_mean_squared_error(std::span<const double> predicted, std::span<const double> truth) {
  require_targets("root_mean_squared_error", predicted, truth);
  return std::sqrt(mean_square(predicted, truth));
}

}  // namespace tocca
