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

}  // namespace tocca
