/// Round numbers for the axis of a plot.
#pragma once

#include <string>
#include <vector>

namespace tocca::detail {

struct Axis {
  double low = 0, high = 1;   ///< the data lie within, with a margin
  std::vector<double> ticks;  ///< multiples of 1, 2 or 5 times a power of ten, within [low, high]
  int decimals = 0;           ///< digits the tick labels need

  /// Where a value lies, 0 at `low` and 1 at `high`.
  [[nodiscard]] double at(double value) const { return (value - low) / (high - low); }
  [[nodiscard]] std::string label(double tick) const;
};

/// An axis over [low, high] with about `count` ticks; an empty range is widened.
Axis make_axis(double low, double high, int count = 5);

}  // namespace tocca::detail
