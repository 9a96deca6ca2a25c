#include "tocca/ops/multilabel.h"

#include <algorithm>
#include <cmath>

namespace tocca {

template <class S>
double binary_cross_entropy(ConstMatrixRef<double> targets, MatrixRef<S> logits) {
  const Index missing = targets.array().isNaN().count();
  if (missing == targets.size()) {
    logits.setZero();
    return 0;
  }
  const auto present = static_cast<double>(targets.size() - missing);
  double sum = 0;
  for (Index i = 0; i < targets.rows(); ++i) {
    for (Index j = 0; j < targets.cols(); ++j) {
      const double y = targets(i, j);
      if (std::isnan(y)) {
        logits(i, j) = 0;
        continue;
      }
      const auto z = static_cast<double>(logits(i, j));
      const double decay = std::exp(-std::abs(z));
      sum += std::max(z, 0.0) - y * z + std::log1p(decay);
      logits(i, j) = static_cast<S>(((z >= 0 ? 1 : decay) / (1 + decay) - y) / present);
    }
  }
  return sum / present;
}

template double binary_cross_entropy<float>(ConstMatrixRef<double>, MatrixRef<float>);
template double binary_cross_entropy<double>(ConstMatrixRef<double>, MatrixRef<double>);

}  // namespace tocca
