/// The Cox partial likelihood of survival times, with ties and missing times.
///
/// D. Cox, Regression models and life-tables, J. Royal Statistical Society B 34, 1972; ties: N. Breslow, Biometrics 30,
/// 1974, and B. Efron, J. American Statistical Association 72, 1977; as the loss of a network: J. Katzman et al.,
/// DeepSurv, BMC Medical Research Methodology 18, 2018.
#pragma once

#include <span>

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"

namespace tocca {

enum class CoxTies { breslow, efron };

/// Minus the mean over the events of the log partial likelihood. With R_g = Σ e^η over those at risk at the time of the
/// d tied events g (time not before it), and D_g = Σ e^η over these events, the tie adds
///     Σ_{i in g} η_i − Σ_{l=0}^{d−1} log(R_g − f D_g),  f = 0 (Breslow) or l/d (Efron).
///
/// log_hazard η (m × 1) is replaced by the gradient. times (m): NaN where missing. events (m): 1 the event was seen, 0
/// censored at that time, −1 missing. Rows with anything missing add nothing and get a zero gradient; without any event
/// the loss is 0. All sums of e^η are kept as logarithms, so that no η of any size overflows. O(m log m).
template <class S>
double cox_loss(std::span<const double> times, std::span<const int> events, CoxTies ties, MatrixRef<S> log_hazard,
                Workspace& work);

}  // namespace tocca
