/// The CCA layer: projects two views on their canonical variates and is differentiated through.
///
/// M. Dorfer, J. Schlüter, A. Vall, F. Korzeniowski, G. Widmer, End-to-end cross-modality retrieval with CCA
/// projections and pairwise ranking loss, Int. J. Multimedia Information Retrieval 7, 2018, section 3.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/linalg/svd.h"
#include "tocca/ops/view_pair.h"

namespace tocca {

/// In which coordinates the projections of a batch are given. Turning both views by the same rotation changes neither
/// the correlations between them nor any inner product; a head that is learnt on them sees it.
enum class CcaBasis {
  /// Canonical variates, as in the paper: a column of B₁ is uncorrelated with all of B₂ but its partner, largest
  /// correlation first. With nearly equal correlations the directions of one batch are turned against those of the
  /// next.
  canonical,
  /// Departure from the paper: B₂ is whitened as in whitening.h (of the matched rows), and B₁, whitened, turned to
  /// where
  /// it is nearest to B₂ (orthogonal Procrustes): the canonical variates times Vᵀ. Continuous in the batch, but for
  /// directions of B₁ whose correlation is near 0, which nothing ties to B₂. Needs d₁ = d₂ = k.
  aligned
};

/// Running covariances, and what inference uses: the centres (1 × d_v) and projections W_v (d_v × k) of the last
/// training batch. The number of their columns, k ≤ min(d₁, d₂), is the number of components. All float64, owned by
/// the network.
struct CcaLayerStatistics {
  ViewPairStatistics pair;
  MatrixMap<double> centre1;
  MatrixMap<double> centre2;
  MatrixMap<double> weights1;
  MatrixMap<double> weights2;
};

/// What the layer remembers of a batch for the way back, and place for what lies between: kept by callers that come
/// back with every batch, which then allocate nothing.
struct CcaLayerCache {
  WhitenedPair pair;
  CcaBasis basis = CcaBasis::aligned;
  ThinSvd svd;                        ///< of T, signs as in canonical weights; values: the canonical correlations
  Matrix<double> weights1, weights2;  ///< W_v (d_v × k)
  Workspace work;
};

/// b_v ← (h_v − μ_v) W_v for matched rows h_v (m × d_v), m ≥ 2: T = R₁ Σ₁₂ R₂ = U D Vᵀ, R = (Σ + rI)^{-1/2}; b_v (m ×
/// k). Canonical: W₁ = R₁ U, W₂ = R₂ V, of which the first k columns, and the largest-magnitude entry of each column of
/// W₁ is positive. Aligned: W₁ = R₁ U Vᵀ, W₂ = R₂; throws InputError unless d₁ = d₂ = k. Moves the statistics on;
/// `batch_number` k ≥ 1 counts this batch. Inference is whitening_infer (whitening.h) with a view's centre and weights.
///
/// Departure from the paper: the running covariances are corrected for their start from zero, and the gradient flows
/// through this batch's part of them only. running = false gives the batch's own, which needs m well above d₁ + d₂:
/// below, correlations are 1 and tied.
template <class S>
void cca_layer_forward(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, CcaBasis basis,
                       double batch_number, CcaLayerStatistics& statistics, CcaLayerCache& cache, MatrixRef<S> b1,
                       MatrixRef<S> b2);

/// From db_v = ∂L/∂B_v (m × k) to dh_v ← ∂L/∂H_v (m × d_v), through R by the divided differences of λ^{-1/2} and
/// through the singular vectors with the guard for ties of thin_svd_adjoint: finite always, and right with tied
/// correlations if the loss does not change when the tied components of both views are rotated together. Aligned, it
/// goes through the polar factor of T, to which ties are nothing.
template <class S>
void cca_layer_backward(CcaLayerCache& cache, ConstMatrixRef<S> db1, ConstMatrixRef<S> db2, MatrixRef<S> dh1,
                        MatrixRef<S> dh2);

}  // namespace tocca
