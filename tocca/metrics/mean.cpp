#include "tocca/metrics/mean.h"

#include <cmath>

namespace tocca {

MeanAndError mean_and_standard_error(std::span<const double> values) {
  detail::GatheredMean mean, square;
  for (const double value : values)
    if (!std::isnan(value)) mean.add(value);
  for (const double value : values)
    if (!std::isnan(value)) square.add((value - mean.value()) * (value - mean.value()));
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const double error = mean.count() < 2 ? kNaN : std::sqrt(square.value() / static_cast<double>(mean.count() - 1));
  return {mean.value(), error, mean.count()};
}

}  // namespace tocca
