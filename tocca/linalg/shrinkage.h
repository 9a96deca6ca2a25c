/// How far a covariance from few samples should be shrunk towards a multiple of the identity, without trying.
///
/// O. Ledoit, M. Wolf, A well-conditioned estimator for large-dimensional covariance matrices, J. Multivar. Anal. 88,
/// 2004.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// S* = (1 − ρ) S + ρ λ I, in proportion to S + r I.
struct Shrinkage {
  /// Above it the ridge would grow without bound: data without any sign of structure.
  static constexpr double kMostForRidge = 0.999;

  double intensity = 0;      ///< ρ, 0 to 1
  double mean_variance = 0;  ///< λ = tr(S) / d

  /// r = λ ρ / (1 − ρ) · n / (n − 1), with ρ taken as at most kMostForRidge, for covariances that are divided by n − 1,
  /// as those of `CcaOptions` and `MultiviewOptions` are: XᵀX / (n − 1) + r I is a multiple of S*, so the directions
  /// are those of S*, and the canonical correlations, of the former, stay at or below 1. n ≥ 2 rows.
  [[nodiscard]] double ridge(Index n) const;
};

/// The intensity that minimises the expected ‖S* − Σ‖²_F, estimated from the rows x (n × d; centred here):
/// ρ = min(1, b̄² / ‖S − λI‖²) with b̄² = Σᵢ ‖xᵢxᵢᵀ − S‖² / n² and S = XᵀX / n (lemmas 3.2–3.4). 0 for
/// one column and for a constant view. Forms the smaller of S and XXᵀ. Throws InputError for fewer than two rows, no
/// columns, and entries that are not finite.
///
/// Example:
///     cca(x1, x2, {.ridge = ledoit_wolf(x1).ridge(n), .ridge2 = ledoit_wolf(x2).ridge(n)});
Shrinkage ledoit_wolf(ConstMatrixRef<double> x);

/// The same of rows that are centred already, by whatever means: those of classes, for instance.
Shrinkage ledoit_wolf_of_centred(ConstMatrixRef<double> centred);

}  // namespace tocca
