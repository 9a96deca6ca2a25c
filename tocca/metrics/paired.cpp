#include "tocca/metrics/paired.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tocca/metrics/mean.h"

namespace tocca {

double student_two_sided(double t, Index degrees) {
  if (std::isinf(t)) return 0;
  const auto n = static_cast<double>(degrees);
  const double angle = std::atan2(std::abs(t), std::sqrt(n));
  const double sine = std::sin(angle), cosine = std::cos(angle);
  // The series of even and odd powers of the cosine; each term is the one before times (k − 1) / k · cos².
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (Index k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double inside = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::max(0.0, 1 - inside);
}

PairedTest corrected_resampled_t_test(std::span<const double> differences, double test_share) {
  const MeanAndError mean = mean_and_standard_error(differences);
  PairedTest test{.difference = mean.mean, .count = mean.count};
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (mean.count < 2) {
    test.standard_error = test.t = test.p = kNaN;
    return test;
  }
  const auto j = static_cast<double>(mean.count);
  const double variance = mean.standard_error * mean.standard_error * j;  // s²
  test.standard_error = std::sqrt((1 / j + test_share) * variance);
  // The same difference every time, but for rounding, says nothing of how it varies.
  constexpr double kRounding = 1e-12;
  if (test.standard_error <= kRounding * std::abs(mean.mean)) {
    test.t = test.p = mean.mean == 0 ? 0 : kNaN;
    if (mean.mean == 0) test.p = 1;
    return test;
  }
  test.t = mean.mean / test.standard_error;
  test.p = student_two_sided(test.t, mean.count - 1);
  return test;
}

}  // namespace tocca
