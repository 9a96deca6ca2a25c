/// The solution of linear canonical correlation analysis, plain and ridge-regularised, for two views.
///
/// H. Hotelling, Relations between two sets of variates, Biometrika 28, 1936.
#pragma once

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
  /// Eigenvalues of a covariance below tolerance · (its largest) are null directions and are dropped when ridge is 0.
  double rank_tolerance = 1e-10;
};

/// From Σ₁₁ (d₁ × d₁), Σ₂₂ (d₂ × d₂) and Σ₁₂ (d₁ × d₂), without the ridge: T = Σ₁^{-1/2} Σ₁₂ Σ₂^{-1/2} = U₁ diag(σ)
/// U₂ᵀ, W_v = Σ_v^{-1/2} U_v. The largest-magnitude entry of each column of W₁ is positive.
CcaSolution cca_from_covariances(ConstMatrixRef<double> s11, ConstMatrixRef<double> s22, ConstMatrixRef<double> s12,
                                 const CcaOptions& options = {});

/// From the views themselves (n × d₁, n × d₂; not necessarily centred): through the covariances when n > d₁ + d₂,
/// through thin decompositions of the centred views otherwise, so that no d × d matrix is formed when d ≥ n.
CcaSolution cca(ConstMatrixRef<double> x1, ConstMatrixRef<double> x2, const CcaOptions& options = {});

}  // namespace tocca
