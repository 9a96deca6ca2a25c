/// Means and covariances that can be gathered in pieces and merged: chunks, threads and machines share one definition.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// Mean and scatter of rows [x₁, ..., x_V] of all views side by side (D = Σ d_v columns), in float64.
/// Update of T. Chan, G. Golub, R. LeVeque, Algorithms for computing the sample variance, Am. Stat. 37, 1983.
class CovarianceAccumulator {
 public:
  explicit CovarianceAccumulator(Index columns);
  /// Adds rows (m × D).
  void add(ConstMatrixRef<double> rows);
  /// Adds what another accumulator has seen.
  void merge(const CovarianceAccumulator& other);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const RowVector<double>& mean() const { return mean_; }
  /// (D × D) divided by (n − 1). Needs count() ≥ 2.
  [[nodiscard]] Matrix<double> covariance() const;

 private:
  Index count_ = 0;
  RowVector<double> mean_;
  Matrix<double> scatter_;  // Σ (x − mean)ᵀ (x − mean)
};

}  // namespace tocca
