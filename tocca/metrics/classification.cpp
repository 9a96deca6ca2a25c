#include "tocca/metrics/classification.h"

#include <cstddef>
#include <map>

#include "tocca/metrics/checks.h"
#include "tocca/metrics/mean.h"

namespace tocca {
namespace {

void require_pairs(const char* where, std::span<const int> predicted, std::span<const int> truth) {
  detail::require_one_for_each(where, "predictions", predicted.size(), "true label", truth.size());
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

}  // namespace

double accuracy(std::span<const int> predicted, std::span<const int> truth) {
  require_pairs("accuracy", predicted, truth);
  detail::GatheredMean right;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (truth[i] >= 0) right.add(predicted[i] == truth[i] ? 1 : 0);
  return right.value();
}

double balanced_accuracy(std::span<const int> predicted, std::span<const int> truth) {
  require_pairs("balanced_accuracy", predicted, truth);
  detail::GatheredMean recall;
  for (const auto& [code, c] : count_classes(predicted, truth))
    if (c.truth > 0) recall.add(c.right / c.truth);
  return recall.value();
}

double macro_f1(std::span<const int> predicted, std::span<const int> truth) {
  require_pairs("macro_f1", predicted, truth);
  detail::GatheredMean f1;
  for (const auto& [code, c] : count_classes(predicted, truth))
    if (c.truth + c.predicted > 0) f1.add(2 * c.right / (c.truth + c.predicted));
  return f1.value();
}

}  // namespace tocca
