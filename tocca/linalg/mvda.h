/// Multi-view discriminant analysis: one discriminant space for all views.
///
/// M. Kan, S. Shan, H. Zhang, S. Lao, X. Chen, Multi-view discriminant analysis, IEEE Trans. Pattern Anal. Mach.
/// Intell. 38, 2016.
#pragma once

#include <span>

#include "tocca/core/matrix.h"
#include "tocca/linalg/multiview.h"

namespace tocca {

/// W = [W₁; ...; W_V] that maximises tr((WᵀDW)⁻¹ WᵀSW), the between- over the within-class scatter of all projections
/// X_v W_v of all views taken together: a class has one mean μ_c over its samples in every view, so that samples of a
/// class are drawn together across the views. With m_c samples of class c and the mean μ_cv of view v,
///     S_vw = Σ_c (m_c / V) μ_cv μ_cwᵀ / (n − 1),   D_vw = [v = w] (X_vᵀX_v / (n − 1) + r_v I) − S_vw.
/// Views (V ≥ 1) as for `mcca`; only samples with a label (y ≥ 0) enter, and each view is centred on them, where the
/// paper leaves the difference between the views' means within the classes. y (n), classes of any numbers.
///
/// Eigenvalues: between over within (with the ridge), descending; without a ridge and with n ≤ d nothing need be left
/// within, and what is 0 is then taken as the rounding of 1. Scaled so that Σ_v w_vᵀ Σ_v w_v = V, as in `mcca`, with
/// Σ_v the covariance of the labelled samples plus r_v I; signs as there. At most C − 1 components, C classes with
/// samples. With one view these are the discriminant directions of LDA.
///
/// Never forms a matrix larger than the views: in the coordinates in which Σ_v = I, S = HᵀH with H of C rows, and the
/// directions are the right singular vectors of H, of singular values √(λ / (1 + λ)).
///
/// Throws InputError as `mcca` does, and for another number of labels than of rows, or fewer than two classes.
MultiviewSolution mvda(std::span<const Matrix<double>> views, std::span<const int> y,
                       const MultiviewOptions& options = {});

}  // namespace tocca
