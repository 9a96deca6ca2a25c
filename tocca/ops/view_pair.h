/// The covariances of two views on a batch, running or the batch's own, and the cross-covariance between the whitened
/// views: what the CCA objectives (trace_norm.h, cca_layer.h) have in common.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"
#include "tocca/linalg/symmetric.h"

namespace tocca {

struct ViewPairOptions {
  double ridge = 1e-3;     ///< r, added to the diagonals of Σ₁₁ and Σ₂₂, > 0
  double momentum = 0.99;  ///< weight α of the old statistic, 0 ≤ α < 1
  bool running = true;     ///< false: the batch's own means and covariances
};

/// Running means (1 × d_v) and covariances (d₁ × d₁), (d₂ × d₂), (d₁ × d₂) before the correction 1/(1 − αᵏ), from
/// zeros. All float64, owned by the network.
struct ViewPairStatistics {
  MatrixMap<double> mean1;
  MatrixMap<double> mean2;
  MatrixMap<double> s11;
  MatrixMap<double> s22;
  MatrixMap<double> s12;
};

/// One view of a batch, and what whitens it. Kept by callers that come back with every batch: nothing is then
/// allocated.
struct WhitenedView {
  RowVector<double> centre;    ///< μ (d)
  KeptMatrix<double> centred;  ///< H̄ = H − μ (m × d)
  SymmetricEigen eigen;        ///< of Σ + rI
  Matrix<double> root;         ///< R = (Σ + rI)^{-1/2} (d × d)
};

struct WhitenedPair {
  WhitenedView view1, view2;
  Matrix<double> s12;  ///< Σ₁₂ (d₁ × d₂)
  Matrix<double> t;    ///< T = R₁ Σ₁₂ R₂ (d₁ × d₂); its singular values are the canonical correlations
  double share = 1;    ///< c: how much of the used statistics is this batch
};

/// For matched rows h1 (m × d₁) and h2 (m × d₂), m ≥ 2; moves the statistics on. `batch_number` k ≥ 1 counts this
/// batch. The means and covariances are those of whitening.h: s⁽ᵏ⁾ = α s⁽ᵏ⁻¹⁾ + (1 − α) s_batch, scatter about the
/// running mean divided by m − 1.
template <class S>
void whiten_pair(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, double batch_number,
                 ViewPairStatistics& statistics, WhitenedPair& pair, Workspace& work);

/// ∂L/∂Σ for the covariances used; s11 and s22 symmetric.
struct CovarianceGradients {
  Eigen::Ref<const Matrix<double>> s11, s22, s12;
};

/// dh1 (m × d₁), dh2 (m × d₂): in the gradient that reaches H̄ past the covariances, out ∂L/∂H, through this batch's
/// part of the statistics only: ∂L/∂H̄₁ += c (2 H̄₁ ∂L/∂Σ₁₁ + H̄₂ (∂L/∂Σ₁₂)ᵀ) / (m − 1), ∂L/∂H₁ = ∂L/∂H̄₁ − c · its mean
/// row, and likewise for view 2.
void whiten_pair_backward(const WhitenedPair& pair, const CovarianceGradients& gradients, MatrixRef<double> dh1,
                          MatrixRef<double> dh2, Workspace& work);

}  // namespace tocca
