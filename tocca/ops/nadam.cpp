#include "tocca/ops/nadam.h"

#include <cmath>

namespace tocca {

NadamCoefficients NadamSchedule::next(const NadamOptions& options) {
  step += 1;
  const auto momentum_at = [&](double t) {
    return options.beta1 * (1 - 0.5 * std::pow(0.96, options.schedule_decay * t));
  };
  const double now = momentum_at(step);
  const double then = momentum_at(step + 1);
  momentum_product *= now;
  NadamCoefficients c;
  c.gradient = options.learning_rate * (1 - now) / (1 - momentum_product);
  c.moment = options.learning_rate * then / (1 - momentum_product * then);
  c.second = 1 / (1 - std::pow(options.beta2, step));
  return c;
}

template <class S>
void nadam_update(const NadamOptions& options, const NadamCoefficients& coefficients, double decay,
                  std::span<S> parameters, std::span<const S> gradients, std::span<S> first_moments,
                  std::span<S> second_moments) {
  const S b1 = static_cast<S>(options.beta1);
  const S b2 = static_cast<S>(options.beta2);
  const S one_b1 = static_cast<S>(1 - options.beta1);
  const S one_b2 = static_cast<S>(1 - options.beta2);
  const S eps = static_cast<S>(options.epsilon);
  const S cg = static_cast<S>(coefficients.gradient);
  const S cm = static_cast<S>(coefficients.moment);
  const S cv = static_cast<S>(coefficients.second);
  const S wd = static_cast<S>(decay);
  S* __restrict const p = parameters.data();
  const S* __restrict const gradient = gradients.data();
  S* __restrict const m = first_moments.data();
  S* __restrict const v = second_moments.data();
  const std::size_t n = parameters.size();
  for (std::size_t i = 0; i < n; ++i) {
    const S g = gradient[i] + wd * p[i];
    m[i] = b1 * m[i] + one_b1 * g;
    v[i] = b2 * v[i] + one_b2 * g * g;
    p[i] -= (cg * g + cm * m[i]) / (std::sqrt(cv * v[i]) + eps);
  }
}

template void nadam_update<float>(const NadamOptions&, const NadamCoefficients&, double, std::span<float>,
                                  std::span<const float>, std::span<float>, std::span<float>);
template void nadam_update<double>(const NadamOptions&, const NadamCoefficients&, double, std::span<double>,
                                   std::span<const double>, std::span<double>, std::span<double>);

}  // namespace tocca
