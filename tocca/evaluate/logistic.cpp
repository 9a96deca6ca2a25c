#include "tocca/evaluate/logistic.h"

#include "tocca/evaluate/cost_search.h"

namespace tocca {
namespace {

detail::CostSearch search_of(const LogisticOptions& options) {
  return {"logistic", detail::MarginLoss::logistic, options.costs, options.folds, options.groups, options.tolerance};
}

}  // namespace

std::vector<double> LogisticOptions::default_costs() { return detail::powers_of_two(); }

void LogisticOptions::validate() const { search_of(*this).validate(); }

LinearClassifier fit_logistic(ConstMatrixRef<double> x, std::span<const int> y, int class_count,
                              const LogisticOptions& options, Rng rng, const Context& context) {
  return detail::fit_one_versus_rest(x, y, class_count, search_of(options), rng, context);
}

}  // namespace tocca
