#include "tocca/ops/regression.h"

#include <cmath>

namespace tocca {

template <class S>
double mean_squared_error(ConstMatrixRef<double> targets, MatrixRef<S> predictions) {
  const Index missing = targets.array().isNaN().count();
  if (missing == targets.size()) {
    predictions.setZero();
    return 0;
  }
  const auto present = static_cast<double>(targets.size() - missing);
  double sum = 0;
  for (Index i = 0; i < targets.rows(); ++i) {
    for (Index j = 0; j < targets.cols(); ++j) {
      const double error = static_cast<double>(predictions(i, j)) - targets(i, j);
      const bool counts = !std::isnan(targets(i, j));
      sum += counts ? error * error : 0;
      predictions(i, j) = counts ? static_cast<S>(2 * error / present) : S(0);
    }
  }
  return sum / present;
}

template double mean_squared_error<float>(ConstMatrixRef<double>, MatrixRef<float>);
template double mean_squared_error<double>(ConstMatrixRef<double>, MatrixRef<double>);

}  // namespace tocca
