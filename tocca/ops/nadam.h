/// Nadam: Adam with Nesterov momentum.
///
/// T. Dozat, Incorporating Nesterov momentum into Adam, ICLR workshop 2016, with the momentum schedule
/// μ_t = β₁ (1 − ½ · 0.96^{ψ t}).
#pragma once

#include <span>

#include "tocca/core/matrix.h"

namespace tocca {

struct NadamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double schedule_decay = 0.004;  ///< ψ
};

/// The scalars of one step: p ← p − (gradient · g + moment · m)/(√(second · v) + ε) with the moments already renewed.
struct NadamCoefficients {
  double gradient = 0;
  double moment = 0;
  double second = 0;
};

/// Where the optimiser stands; a value, saved with a checkpoint.
struct NadamSchedule {
  double step = 0;
  double momentum_product = 1;  ///< Π μ_t

  /// Moves on to the next step.
  NadamCoefficients next(const NadamOptions& options);
};

/// One step on `parameters` (n) with their gradients and moments m, v (n each). `decay` · parameter is added to the
/// gradient.
template <class S>
void nadam_update(const NadamOptions& options, const NadamCoefficients& coefficients, double decay,
                  std::span<S> parameters, std::span<const S> gradients, std::span<S> first_moments,
                  std::span<S> second_moments);

template <>
void nadam_update<float>(const NadamOptions&, const NadamCoefficients&, double, std::span<float>,
                         std::span<const float>, std::span<float>, std::span<float>);
template <>
void nadam_update<double>(const NadamOptions&, const NadamCoefficients&, double, std::span<double>,
                          std::span<const double>, std::span<double>, std::span<double>);

}  // namespace tocca
