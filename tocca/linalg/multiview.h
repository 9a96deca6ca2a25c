/// Canonical correlation analysis of two and more views in closed form, and with the labels as a further view.
///
/// J. R. Kettenring, Canonical analysis of several sets of variables, Biometrika 58, 1971.
/// J. D. Carroll, Generalization of canonical correlation analysis to three or more sets of variables, APA 1968.
/// G. Lee et al., Supervised multi-view canonical correlation analysis (sMVCCA), IEEE Trans. Med. Imaging 34, 2015.
/// A. Singanamalli et al., Supervised multi-view canonical correlation analysis, Proc. SPIE 9038, 2014.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

struct MultiviewOptions {
  /// k; 0: as many as the view of lowest rank has. More than that may be asked for, up to the sum of the ranks: those
  /// components relate only some of the views.
  Index components = 0;
  /// r_v ≥ 0, added to the diagonal of each view's covariance. One for each view, a single one for all, or none: 0.
  /// `ledoit_wolf` (shrinkage.h) finds one for each view without trying.
  std::vector<double> ridges = {};
  /// Eigenvalues of a covariance (with the ridge) not above tolerance · (its largest) are null directions and are
  /// dropped; with a ridge of any weight none are. In [0, 1).
  double rank_tolerance = 1e-10;

  /// Throws InputError naming the field, its value and the constraint.
  void validate() const;
};

struct MultiviewSolution {
  std::vector<Matrix<double>> weights;  ///< W_v (d_v × k) of each view
  Vector<double> eigenvalues;           ///< (k) descending
  std::vector<Index> ranks;             ///< r_v, directions of each view kept
};

/// Views X_v (n × d_v, V ≥ 2, the same samples in the same order; centred here, standardised by the caller where
/// columns differ in scale). With Σ_v = X_vᵀX_v / (n − 1) + r_v I and Σ_vw = X_vᵀX_w / (n − 1), both functions below
/// work in the row space of each view, of rank r_v ≤ min(n − 1, d_v): an eigenproblem of Σ r_v rows, and no d × d
/// matrix when d ≥ n. The largest-magnitude entry of each column of W₁ is positive. A view without variance has rank 0
/// and, unless more components are asked for, leaves none. Throws InputError for fewer than two views, numbers of rows
/// that differ or are below 2, a view without columns, entries that are not finite, and another number of ridges than
/// of views.
///
/// Multiset CCA: maximises the sum of the variates' covariances over all pairs of views (SUMCOR) under one common
/// constraint on their variances, as the generalised eigenproblem of all blocks against the block diagonal
///     Σ_w≠v Σ_vw w_w + Σ_v w_v = ρ Σ_v w_v,   Σ_v w_vᵀ Σ_v w_v = V.
/// Eigenvalues ρ in [0, V]; V where all variates agree, 1 where they are uncorrelated. With two views ρ = 1 + σ and the
/// weights are those of `cca`.
///
/// Example:
///     MultiviewSolution fitted = mcca(views, {.components = 10, .ridges = {0.1}});
///     Matrix<double> z = views[2] * fitted.weights[2];  // variates of the third view, up to their means
MultiviewSolution mcca(std::span<const Matrix<double>> views, const MultiviewOptions& options = {});

/// Generalised CCA: the shared variates G (n × k, orthogonal, variance 1) that the views predict best (MAXVAR), which
/// are the leading eigenvectors of Σ_v X_v (X_vᵀX_v + (n − 1) r_v I)⁻¹ X_vᵀ; W_v is the ridge regression of G on X_v.
/// Eigenvalues in [0, V]: the sum over views of the share of G's variance that each predicts; without ridges the mean
/// of the V variates, times V, is G times the eigenvalue, and W_v is that of `mcca` up to the scale of its columns.
MultiviewSolution gcca(std::span<const Matrix<double>> views, const MultiviewOptions& options = {});

/// Supervised multi-view CCA: `mcca` of the views (V ≥ 1) with the classes' indicators, one column a class, as view
/// V + 1, without a ridge; what is returned is of the data views. Only samples with a label (y ≥ 0) enter: the labels'
/// view has no row for the others. y (n), classes of any numbers; at most as many components as there are classes less
/// one, unless more are asked for, which then do not depend on the labels alone. Σ w_vᵀ Σ_v w_v = V + 1 holds with the
/// labels' part in it. Throws as above, and for another number of labels than of rows, or fewer than two classes.
MultiviewSolution smvcca(std::span<const Matrix<double>> views, std::span<const int> y,
                         const MultiviewOptions& options = {});

namespace detail {
/// The ridge of view v.
double ridge_of(const MultiviewOptions& options, std::size_t v);
/// Throws InputError for bad options, views that `require_views` refuses, and a wrong number of ridges.
void require_multiview(std::string_view where, std::span<const Matrix<double>> views, std::size_t least,
                       const MultiviewOptions& options);
/// The same rows of all views.
std::vector<Matrix<double>> rows_of(std::span<const Matrix<double>> views, const std::vector<Index>& rows);
}  // namespace detail

}  // namespace tocca
