/// Means and covariances that can be gathered in pieces and merged: chunks, threads and machines share one definition.
#pragma once

#include <algorithm>

#include "tocca/core/matrix.h"

namespace tocca {

struct Centred {
  Matrix<double> rows;     ///< (n × d) x minus its mean; exactly zero in constant columns
  RowVector<double> mean;  ///< (d); zeros where there are no rows
};
Centred centre(ConstMatrixRef<double> x);

/// 1/√(variance) of each column (d); 1 for a column without variance.
RowVector<double> inverse_deviations(const RowVector<double>& variances);

/// Mean and scatter of rows [x₁, ..., x_V] of all views side by side (D = Σ d_v columns), in float64, gathered in one
/// pass: sums of deviations, and of their products, from an origin near the mean of what has been seen. The variance of
/// a constant column is exactly zero, and entries that are not finite spread into the result.
///
/// Example:
///     CovarianceAccumulator gathered(2);
///     gathered.add(first_rows);
///     gathered.add(more_rows);
///     Matrix<double> s = gathered.covariance();
///
/// The origin starts as the mean of the first rows and moves to the mean again whenever the count has grown eightfold,
/// so that the rows which fixed it are an eighth of all: what is taken off in the end, n · (mean − origin)², is then
/// never more than about eight times the scatter, whatever the order of the rows, and costs less than one digit. (After
/// a first call with fewer rows than a block it is up to as many times as that block has more, until the next move.)
///
/// T. Chan, G. Golub, R. LeVeque, Algorithms for computing the sample variance, Am. Stat. 37, 1983.
class CovarianceAccumulator {
 public:
  /// Rows that are added at a time (of D columns); callers that hand over blocks of their own do best with this many.
  /// With a few hundred columns they stay in the cache between conversion and product; with more, every block passes
  /// over D² sums, which costs less the more rows it has.
  [[nodiscard]] Index block_rows() const { return std::clamp(origin_.size() / 4, Index{128}, Index{512}); }

  /// Throws InputError if columns < 0.
  explicit CovarianceAccumulator(Index columns);
  /// Adds rows (m × D); m may be 0. Throws InputError if the number of columns differs.
  void add(ConstMatrixRef<double> rows);
  /// The same without a copy: deviations are left in `rows`.
  void add_in_place(MatrixRef<double> rows);
  /// Adds what another accumulator has seen. Throws InputError if the number of columns differs.
  void merge(const CovarianceAccumulator& other);

  [[nodiscard]] Index count() const { return count_; }
  /// (D); zeros before the first rows.
  [[nodiscard]] RowVector<double> mean() const;
  /// (D × D) divided by (n − 1). Throws InputError if count() < 2.
  [[nodiscard]] Matrix<double> covariance() const;

 private:
  void require_columns(Index columns) const;
  void add_block(MatrixRef<double> rows);
  void move_origin(const RowVector<double>& origin);

  Index count_ = 0;
  Index next_move_ = 0;  // the count at which the origin moves
  RowVector<double> origin_;
  RowVector<double> sum_;    // Σ (x − origin)
  Matrix<double> products_;  // Σ (x − origin)ᵀ (x − origin), lower triangle
};

}  // namespace tocca
