/// The solution of linear canonical correlation analysis, plain and ridge-regularised, for two views.
///
/// H. Hotelling, Relations between two sets of variates, Biometrika 28, 1936.
#pragma once

#include <optional>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"

namespace tocca {

struct CcaSolution {
  Matrix<double> weights1;      ///< W₁ (d₁ × k)
  Matrix<double> weights2;      ///< W₂ (d₂ × k)
  Vector<double> correlations;  ///< (k) singular values of T, descending; with a ridge they are below the correlations
  Index rank1 = 0;              ///< directions of view 1 kept
  Index rank2 = 0;
};

struct CcaOptions {
  Index components = 0;  ///< k; 0 or more than min(rank₁, rank₂): as many as there are
  double ridge = 0;      ///< r added to each covariance's diagonal, ≥ 0
  /// For view 2 where it differs; `ledoit_wolf` (shrinkage.h) finds one for each view without trying.
  std::optional<double> ridge2 = {};
  /// Eigenvalues of a covariance (with the ridge, its columns scaled to variance 1) not above tolerance · (its largest)
  /// are null directions and are dropped; with a ridge of any weight none are. In [0, 1). 1e-10 is above the rounding
  /// of float32 columns that are sums of others. Where n ≤ d₁ + d₂ and there is a ridge, columns are not scaled.
  double rank_tolerance = 1e-10;

  /// Throws InputError naming the field, its value and the constraint.
  void validate() const;
};

/// From Σ₁₁ (d₁ × d₁), Σ₂₂ (d₂ × d₂) and Σ₁₂ (d₁ × d₂), without the ridge: T = Σ₁^{-1/2} Σ₁₂ Σ₂^{-1/2} = U₁ diag(σ)
/// U₂ᵀ, W_v = Σ_v^{-1/2} U_v. The largest-magnitude entry of each column of W₁ is positive. A view without variance
/// gives no components and rank 0. With workers the two views are whitened side by side. Throws InputError for shapes
/// that do not agree and entries that are not finite.
CcaSolution cca_from_covariances(ConstMatrixRef<double> s11, ConstMatrixRef<double> s22, ConstMatrixRef<double> s12,
                                 const CcaOptions& options = {}, const Context& context = {});

/// From the views themselves (n × d₁, n × d₂; not necessarily centred): through the covariances when n > d₁ + d₂,
/// through thin decompositions of the centred views otherwise, so that no d × d matrix is formed when d ≥ n. The two
/// ways give the same answer. Throws InputError for numbers of rows that differ or are below 2, a view without columns,
/// and entries that are not finite.
///
/// Example:
///     CcaSolution fitted = cca(x1, x2, {.components = 10});
///     Matrix<double> z1 = x1 * fitted.weights1;  // variates, up to their means; variance 1
CcaSolution cca(ConstMatrixRef<double> x1, ConstMatrixRef<double> x2, const CcaOptions& options = {},
                const Context& context = {});

}  // namespace tocca
