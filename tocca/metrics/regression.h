/// How well numbers are predicted. A truth of NaN is missing, and its sample left out everywhere. Sizes that differ, a
/// prediction of NaN for a sample that counts, and an infinite truth throw InputError.
#pragma once

#include <span>

namespace tocca {

/// R² = 1 − Σ (truth − predicted)² / Σ (truth − mean)² with the mean of the truths that count: 1 is perfect, 0 as good
/// as that mean, without a lower bound. NaN with fewer than two samples, or when all truths are equal.
/// predicted (n), truth (n).
///
/// The first of the eight definitions compared in T. Kvålseth, Cautionary note about R², The American Statistician 39,
/// 1985.
double r_squared(std::span<const double> predicted, std::span<const double> truth);

/// √(mean of (truth − predicted)²), ≥ 0, in the units of the truth; NaN without samples. predicted (n), truth (n).
double root_mean_squared_error(std::span<const double> predicted, std::span<const double> truth);

}  // namespace tocca
