/// Means of figures of merit over splits, repetitions or classes.
#pragma once

#include <limits>
#include <span>

#include "tocca/core/matrix.h"

namespace tocca {

struct MeanAndError {
  double mean = 0;            ///< NaN for n = 0
  double standard_error = 0;  ///< s / √n with the sample standard deviation s; NaN for n < 2
  Index count = 0;
};
/// NaN values are left out (and not counted).
MeanAndError mean_and_standard_error(std::span<const double> values);

namespace detail {

/// A mean gathered value by value; NaN over nothing.
class GatheredMean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] double value() const {
    return count_ > 0 ? sum_ / static_cast<double>(count_) : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double sum_ = 0;
  Index count_ = 0;
};

}  // namespace detail
}  // namespace tocca
