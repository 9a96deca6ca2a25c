/// Means and covariances that can be gathered in pieces and merged: chunks, threads and machines share one definition.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

struct Centred {
  Matrix<double> rows;     ///< (n × d) x minus its mean; exactly zero in constant columns
  RowVector<double> mean;  ///< (d); zeros where there are no rows
};
Centred centre(ConstMatrixRef<double> x);

/// Mean and scatter of rows [x₁, ..., x_V] of all views side by side (D = Σ d_v columns), in float64.
/// The variance of a constant column is exactly zero, and entries that are not finite spread into the result.
///
/// Example:
///     CovarianceAccumulator gathered(2);
///     gathered.add(first_rows);
///     gathered.add(more_rows);
///     Matrix<double> s = gathered.covariance();
///
/// Update of T. Chan, G. Golub, R. LeVeque, Algorithms for computing the sample variance, Am. Stat. 37, 1983.
class CovarianceAccumulator {
 public:
  /// Throws InputError if columns < 0.
  explicit CovarianceAccumulator(Index columns);
  /// Adds rows (m × D); m may be 0. Throws InputError if the number of columns differs.
  void add(ConstMatrixRef<double> rows);
  /// Adds what another accumulator has seen. Throws InputError if the number of columns differs.
  void merge(const CovarianceAccumulator& other);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] const RowVector<double>& mean() const { return mean_; }
  /// (D × D) divided by (n − 1). Throws InputError if count() < 2.
  [[nodiscard]] Matrix<double> covariance() const;

 private:
  void add_block(ConstMatrixRef<double> rows);
  /// Brings in `count` rows of that mean whose own scatter has been added.
  void move_mean(Index count, const RowVector<double>& mean);

  Index count_ = 0;
  RowVector<double> mean_;
  Matrix<double> scatter_;  // Σ (x − mean)ᵀ (x − mean)
};

}  // namespace tocca
