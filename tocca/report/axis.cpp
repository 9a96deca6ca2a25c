#include "tocca/report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tocca::detail {

std::string Axis::label(double tick) const { return fmt::format("{:.{}f}", tick, decimals); }

Axis make_axis(double low, double high, int count) {
  const double least = 1e-6 * std::max({1.0, std::abs(low), std::abs(high)});
  const double margin = std::max(0.06 * (high - low), least);
  Axis axis{low - margin, high + margin, {}, 0};
  const double rough = (axis.high - axis.low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double lead = rough / power;
  const double step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
  axis.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  for (double k = std::ceil(axis.low / step); k * step <= axis.high; ++k) axis.ticks.push_back(k * step + 0.0);
  return axis;
}

}  // namespace tocca::detail
