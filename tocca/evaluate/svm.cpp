#include "tocca/evaluate/svm.h"

#include "tocca/evaluate/cost_search.h"

namespace tocca {
namespace {

detail::CostSearch search_of(const SvmOptions& options) {
  return {"svm", detail::MarginLoss::squared_hinge, options.costs, options.folds, options.groups, options.tolerance};
}

}  // namespace

std::vector<double> SvmOptions::default_costs() { return detail::powers_of_two(); }

void SvmOptions::validate() const { search_of(*this).validate(); }

LinearClassifier fit_svm(ConstMatrixRef<double> x, std::span<const int> y, int class_count, const SvmOptions& options,
                         Rng rng, const Context& context) {
  return detail::fit_one_versus_rest(x, y, class_count, search_of(options), rng, context);
}

}  // namespace tocca
