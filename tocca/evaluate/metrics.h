/// Figures of merit. Classes are 0, 1, ...; a truth of −1 is unlabelled and left out everywhere, a prediction below 0
/// (no answer) is wrong. Sizes that differ throw InputError. Without labelled samples the scores are NaN.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// Share of correct predictions.
double accuracy(std::span<const int> predicted, std::span<const int> truth);
/// Mean over classes (those that occur in truth) of the share of their samples predicted right.
double balanced_accuracy(std::span<const int> predicted, std::span<const int> truth);
/// Unweighted mean of the F1 scores of the classes that occur in truth or prediction.
double macro_f1(std::span<const int> predicted, std::span<const int> truth);

struct MeanAndError {
  double mean = 0;
  double standard_error = 0;  ///< s / √n with the sample standard deviation s; NaN for n < 2
  Index count = 0;
};
/// NaN values are left out (and not counted).
MeanAndError mean_and_standard_error(std::span<const double> values);

}  // namespace tocca
