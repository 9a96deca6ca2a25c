/// Whether one method is better than another, from both on the same splits.
#pragma once

#include <span>

#include "tocca/core/matrix.h"

namespace tocca {

struct PairedTest {
  double difference = 0;  ///< mean over the splits
  double standard_error = 0;
  double t = 0;
  double p = 1;     ///< two-sided
  Index count = 0;  ///< splits that have both
};

/// The corrected resampled t-test: splits of one data set share training samples, so that their differences vary less
/// than those of fresh samples would; the variance of the mean is taken as (1/J + test_share) s², with test_share the
/// number of test samples over that of training samples, and J − 1 degrees of freedom.
/// C. Nadeau, Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.
///
/// `differences` (J); NaN are left out. With test_share = 0 it is Student's paired t-test. Fewer than two differences:
/// all NaN but difference. All equal, but for rounding: t is 0 and p 1 where they are 0, otherwise both NaN, as nothing
/// is known of their variation.
PairedTest corrected_resampled_t_test(std::span<const double> differences, double test_share);

/// P(|T| ≥ |t|) of Student's t distribution with a whole number of degrees of freedom ≥ 1, by the finite series of M.
/// Abramowitz, I. Stegun, Handbook of mathematical functions, 26.7.3 and 26.7.4.
double student_two_sided(double t, Index degrees);

}  // namespace tocca
