#include "tocca/evaluate/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tocca/core/error.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void require_pairs(const char* where, std::span<const int> predicted, std::span<const int> truth) {
  if (predicted.size() != truth.size())
    throw InputError(where, fmt::format("number of predictions: got {}, need {}; pass one for each true label",
                                        predicted.size(), truth.size()));
}

/// Labelled samples of one class: how many there are, how many are predicted as it, how many rightly.
struct ClassCount {
  double truth = 0, predicted = 0, right = 0;
};

std::map<int, ClassCount> count_classes(std::span<const int> predicted, std::span<const int> truth) {
  std::map<int, ClassCount> counts;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    ++counts[truth[i]].truth;
    if (predicted[i] >= 0) ++counts[predicted[i]].predicted;
    if (predicted[i] == truth[i]) ++counts[truth[i]].right;
  }
  return counts;
}

/// NaN over nothing.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] double value() const { return count > 0 ? sum / count : kNaN; }
};

}  // namespace

double accuracy(std::span<const int> predicted, std::span<const int> truth) {
  require_pairs("accuracy", predicted, truth);
  Mean right;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] >= 0) right.add(predicted[i] == truth[i] ? 1 : 0);
  return right.value();
}

double balanced_accuracy(std::span<const int> predicted, std::span<const int> truth) {
  require_pairs("balanced_accuracy", predicted, truth);
  Mean recall;
  for (const auto& [code, c] : count_classes(predicted, truth))
    if (c.truth > 0) recall.add(c.right / c.truth);
  return recall.value();
}

double macro_f1(std::span<const int> predicted, std::span<const int> truth) {
  require_pairs("macro_f1", predicted, truth);
  Mean f1;
  for (const auto& [code, c] : count_classes(predicted, truth))
    if (c.truth + c.predicted > 0) f1.add(2 * c.right / (c.truth + c.predicted));
  return f1.value();
}

MeanAndError mean_and_standard_error(std::span<const double> values) {
  Mean mean, square;
  for (const double value : values)
    if (!std::isnan(value)) mean.add(value);
  for (const double value : values)
    if (!std::isnan(value)) square.add((value - mean.value()) * (value - mean.value()));
  const double error = mean.count < 2 ? kNaN : std::sqrt(square.value() / (mean.count - 1));
  return {mean.value(), error, static_cast<Index>(mean.count)};
}

}  // namespace tocca
