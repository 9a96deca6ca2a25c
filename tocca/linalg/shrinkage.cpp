#include "tocca/linalg/shrinkage.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/covariance.h"

namespace tocca {
namespace {

/// ‖XᵀX‖²_F, which is ‖XXᵀ‖²_F.
double squared_norm_of_gram(ConstMatrixRef<double> x) {
  const Index r = std::min(x.rows(), x.cols());
  Matrix<double> gram(r, r);
  if (r == x.cols())
    multiply_at_a<double>(x, gram);
  else
    multiply_a_bt<double>(x, x, gram);
  return gram.squaredNorm();
}

}  // namespace

double Shrinkage::ridge(Index n) const {
  const double most = std::min(intensity, kMostForRidge);
  const auto rows = static_cast<double>(n);
  return mean_variance * most / (1 - most) * rows / (rows - 1);
}

Shrinkage ledoit_wolf(ConstMatrixRef<double> x) {
  if (x.rows() < 2 || x.cols() == 0)
    throw InputError("ledoit_wolf", fmt::format("shape: got {} x {}, need at least 2 rows and 1 column; pass the data",
                                                x.rows(), x.cols()));
  detail::require_finite("ledoit_wolf", "x", x);
  return ledoit_wolf_of_centred(centre(x).rows);
}

Shrinkage ledoit_wolf_of_centred(ConstMatrixRef<double> centred) {
  const auto n = static_cast<double>(centred.rows()), d = static_cast<double>(centred.cols());
  Shrinkage result{0, centred.squaredNorm() / (n * d)};
  if (centred.cols() < 2 || result.mean_variance == 0) return result;
  const double s = squared_norm_of_gram(centred) / (n * n);  // ‖S‖²
  const double spread = s - d * result.mean_variance * result.mean_variance;
  // Σᵢ ‖xᵢxᵢᵀ‖² = Σᵢ ‖xᵢ‖⁴
  const double error = (centred.rowwise().squaredNorm().squaredNorm() / n - s) / n;
  if (error > 0) result.intensity = error >= spread ? 1 : error / spread;
  return result;
}

}  // namespace tocca
