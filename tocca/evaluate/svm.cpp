#include "tocca/evaluate/svm.h"

namespace tocca {

LinearClassifier fit_svm(ConstMatrixRef<double> x, std::span<const int> y, int class_count, const SvmOptions& options,
                         Rng rng, const Context& context) {
  return detail::fit_one_versus_rest("svm", detail::MarginLoss::squared_hinge, x, y, class_count, options, rng,
                                     context);
}

}  // namespace tocca
