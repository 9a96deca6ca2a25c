#include "tocca/metrics/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/linalg/checks.h"
#include "tocca/metrics/checks.h"
#include "tocca/metrics/mean.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The samples of one score: how many have the property, and how many have not.
struct Step {
  double score = 0, with = 0, without = 0;
};

/// From the highest score to the lowest.
std::vector<Step> steps(const char* where, std::span<const double> scores, std::span<const int> flags) {
  detail::require_one_for_each(where, "scores", scores.size(), "flag", flags.size());
  std::vector<Step> all;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    detail::require_flag(where, "flag", i, flags[i]);
    if (flags[i] < 0) continue;
    detail::require_number(where, "score", i, scores[i]);
    all.push_back({scores[i], flags[i] > 0 ? 1.0 : 0.0, flags[i] > 0 ? 0.0 : 1.0});
  }
  std::sort(all.begin(), all.end(), [](const Step& a, const Step& b) { return a.score > b.score; });
  std::vector<Step> distinct;
  for (const Step& step : all) {
    if (distinct.empty() || distinct.back().score != step.score) distinct.push_back({step.score});
    distinct.back().with += step.with;
    distinct.back().without += step.without;
  }
  return distinct;
}

using Figure = double (*)(std::span<const double> scores, std::span<const int> flags);

std::vector<int> flags_of_column(const char* where, ConstMatrixRef<double> targets, Index column) {
  std::vector<int> flags;
  for (Index i = 0; i < targets.rows(); ++i) {
    const double target = targets(i, column);
    if (!std::isnan(target) && target != 0 && target != 1)
      throw InputError(where, fmt::format("target of sample {}, property {} (counted from 0): got {}, need 1, 0, or "
                                          "NaN for a missing one; recode it",
                                          i, column, target));
    flags.push_back(std::isnan(target) ? -1 : static_cast<int>(target));
  }
  return flags;
}

double mean_over_columns(const char* where, Figure figure, ConstMatrixRef<double> scores,
                         ConstMatrixRef<double> targets) {
  detail::require_shape(where, "the scores", scores, targets.rows(), targets.cols());
  detail::GatheredMean mean;
  for (Index j = 0; j < targets.cols(); ++j) {
    const std::vector<int> flags = flags_of_column(where, targets, j);
    const Vector<double> column = scores.col(j);
    const double value = figure({column.data(), flags.size()}, flags);
    if (!std::isnan(value)) mean.add(value);
  }
  return mean.value();
}

}  // namespace

double area_under_roc(std::span<const double> scores, std::span<const int> flags) {
  double with = 0, without = 0, ordered = 0;
  for (const Step& step : steps("area_under_roc", scores, flags)) {
    ordered += step.without * (with + step.with / 2);
    with += step.with;
    without += step.without;
  }
  return with > 0 && without > 0 ? ordered / (with * without) : kNaN;
}

double average_precision(std::span<const double> scores, std::span<const int> flags) {
  double with = 0, seen = 0, sum = 0;
  for (const Step& step : steps("average_precision", scores, flags)) {
    with += step.with;
    seen += step.with + step.without;
    sum += step.with * with / seen;
  }
  return with > 0 ? sum / with : kNaN;
}

double macro_area_under_roc(ConstMatrixRef<double> scores, ConstMatrixRef<double> targets) {
  return mean_over_columns("macro_area_under_roc", area_under_roc, scores, targets);
}

double macro_average_precision(ConstMatrixRef<double> scores, ConstMatrixRef<double> targets) {
  return mean_over_columns("macro_average_precision", average_precision, scores, targets);
}

}  // namespace tocca
