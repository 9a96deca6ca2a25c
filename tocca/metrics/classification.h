/// How well classes are predicted. Classes are 0, 1, ...; a truth of −1 is unlabelled and left out everywhere, a
/// prediction below 0 (no answer) is wrong. Sizes that differ throw InputError. Without labelled samples the scores are
/// NaN.
#pragma once

#include <span>

namespace tocca {

/// Share of correct predictions.
double accuracy(std::span<const int> predicted, std::span<const int> truth);
/// Mean over classes (those that occur in truth) of the share of their samples predicted right.
double balanced_accuracy(std::span<const int> predicted, std::span<const int> truth);
/// Unweighted mean of the F1 scores of the classes that occur in truth or prediction.
double macro_f1(std::span<const int> predicted, std::span<const int> truth);

}  // namespace tocca
