#include "tocca/evaluate/logistic.h"

namespace tocca {

LinearClassifier fit_logistic(ConstMatrixRef<double> x, std::span<const int> y, int class_count,
                              const LogisticOptions& options, Rng rng, const Context& context) {
  LinearClassifier fitted =
      detail::fit_one_versus_rest("logistic", detail::MarginLoss::logistic, x, y, class_count, options, rng, context);
  fitted.link = Link::one_vs_rest;
  return fitted;
}

}  // namespace tocca
