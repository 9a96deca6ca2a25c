/// The objective of deep CCA: the sum of the canonical correlations of two views.
///
/// G. Andrew, R. Arora, J. Bilmes, K. Livescu, Deep canonical correlation analysis, ICML 2013, section 3.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/linalg/svd.h"
#include "tocca/ops/view_pair.h"

namespace tocca {

/// Place for what lies between, kept by callers that come back with every batch.
struct TraceNormScratch {
  WhitenedPair pair;
  ThinSvd svd;
  Workspace work;
};

/// Returns −‖T‖_tr, T = (Σ₁₁ + rI)^{-1/2} Σ₁₂ (Σ₂₂ + rI)^{-1/2} = U D Vᵀ, and adds weight · its gradient with respect
/// to h1 (m × d₁) and h2 (m × d₂), matched rows, m ≥ 2, to d1 and d2 of the same shapes:
///     ∂‖T‖_tr/∂Σ₁₂ = R₁ U Vᵀ R₂,  ∂‖T‖_tr/∂Σ₁₁ = −½ R₁ U D Uᵀ R₁,  R = (Σ + rI)^{-1/2}.
/// The objective has a kink where a singular value is zero: such directions (σ ≤ 1e-10) add nothing to U Vᵀ, which is
/// the subgradient of least norm. More than two views: the caller adds the pairs.
///
/// Departure from the paper: with options.running the covariances are running ones, and the gradient flows through
/// this batch's part only; the paper uses one large batch (running = false).
template <class S>
double trace_norm(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, double batch_number,
                  double weight, ViewPairStatistics& statistics, MatrixRef<S> d1, MatrixRef<S> d2,
                  TraceNormScratch& scratch);

}  // namespace tocca
