/// Sparse partial least squares discriminant analysis of one and more views: few columns of each view whose components
/// go with the classes, and with those of the other views. With several views this is what DIABLO does.
///
/// A. Tenenhaus et al., Variable selection for generalized canonical correlation analysis, Biostatistics 15, 2014.
/// A. Singh et al., DIABLO: an integrative approach for identifying key molecular drivers from multi-omics assays,
/// Bioinformatics 35, 2019.
/// K.-A. Lê Cao, S. Boitard, P. Besse, Sparse PLS discriminant analysis, BMC Bioinformatics 12, 2011.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// g of a covariance in the criterion.
enum class SparsePlsScheme {
  horst,      ///< g(x) = x
  centroid,   ///< g(x) = |x|
  factorial,  ///< g(x) = x²
};

struct SparsePlsOptions {
  /// K, from 1 to the number of labelled samples less one.
  Index components = 1;
  /// Columns with a weight in each component, 0: all. One for each view, a single one for all, or none: all. At most
  /// the columns of the view.
  std::vector<Index> keep = {};
  /// Weight in [0, 1] of the link between any two views; that between a view and the classes is 1. The higher, the more
  /// the components agree across views, at the expense of telling the classes apart.
  double design = 0.1;
  /// (V × V) symmetric weights in [0, 1] in place of `design`, or empty. The diagonal is not read.
  Matrix<double> links = {};
  SparsePlsScheme scheme = SparsePlsScheme::horst;
  /// A component has converged where no loading vector (of length 1) moves by more than this. Positive.
  double tolerance = 1e-6;
  /// At least 1.
  int max_iterations = 100;

  /// Throws InputError naming the field, its value and the constraint.
  void validate() const;
};

/// One view of d columns, in m labelled samples, K components and C classes.
struct SparsePlsView {
  Matrix<double> loadings;                   ///< (d × K) a of length 1, on the view less the components before
  Matrix<double> weights;                    ///< (d × K) W on the view itself: variates = (X − mean) W
  Matrix<double> variates;                   ///< (m × K) t, orthogonal columns
  RowVector<double> mean;                    ///< (d) of the labelled samples
  std::vector<std::vector<Index>> selected;  ///< of each component, the columns with a loading, ascending
  Vector<double> explained_variance;         ///< (K) share of the view's variance, in [0, 1]
  Vector<double> outcome_correlations;       ///< (K) of t with the classes' u; DIABLO's weight of the view's vote
  Matrix<double> coefficients;               ///< (d × C) B: the classes' indicators are predicted as x B + intercept
  RowVector<double> intercept;               ///< (C)
};

struct SparsePlsSolution {
  std::vector<SparsePlsView> views;
  std::vector<int> classes;         ///< (C) that occur, ascending: the order of columns by class everywhere
  Matrix<double> outcome_loadings;  ///< (C × K) c of length 1
  Matrix<double> outcome_variates;  ///< (m × K) u
  Vector<double> objectives;        ///< (K) what the criterion came to
  std::vector<int> iterations;      ///< (K)
  std::vector<bool> converged;      ///< (K)
};

/// Views X_v (n × d_v, V ≥ 1, the same samples in the same order), centred here, standardised by the caller; y (n),
/// classes of any numbers. Only samples with a label (y ≥ 0), m of them, enter. Y (m × C) holds the classes'
/// indicators, standardised (divided by m − 1), as mixOmics does. Each component maximises over a_v and c of length 1
///     Σ_{v<w} d_vw g(cov(t_v, t_w)) + Σ_v g(cov(t_v, u)),   t_v = X_v a_v,   u = Y c,
/// by turns: a_v ← S(X_vᵀ z_v), z_v = Σ_w d_vw g'(cov(t_v, t_w)) t_w + g'(cov(t_v, u)) u up to scale, then c likewise,
/// where S takes as much from all magnitudes as leaves `keep` nonzeros and scales to length 1. With all columns kept,
/// no turn lowers the criterion. With fewer, the threshold moves with every turn, so that it may fall, and the turns
/// need not settle: see `converged`.
///
/// Start: c is the leading eigenvector of Σ_v YᵀX_v X_vᵀY and a_v = S(X_vᵀY c), which with one view, one component and
/// all columns is the solution, the leading singular vectors of XᵀY. Signs: the largest-magnitude entry of the first
/// view's loading is positive (of the first view that has one); the others and c flip with it.
///
/// After each component, X_v loses t_v t_vᵀX_v / t_vᵀt_v; Y, which all views share, the mean over v of
/// t_v t_vᵀY / t_vᵀt_v: PLS regression where V = 1. B is the least squares regression of the indicators on the view's
/// K variates; selected columns are those of the components together.
///
/// Of columns tied at the threshold (magnitudes within 1e-10 of it) the first are kept. Columns that have no covariance
/// with z_v, such as constant ones, are never kept, even if fewer than `keep` remain. A view of which nothing is
/// left (its rank is reached) has zeros in the components from there on; where nothing is left of Y, all have. No d × d
/// matrix is formed; a turn takes two passes over a view. The result does not depend on threads.
///
/// To predict as DIABLO does, let each view vote for the class of its highest score (or of the nearest class mean among
/// its variates) with the weight `outcome_correlations`, the mean over components; or add up the views' scores.
///
/// Throws InputError for no view, numbers of rows that differ, a view without columns, entries that are not finite,
/// another number of labels than of rows, fewer than two classes, options out of range, more components than labelled
/// samples less one, `keep` or `links` that do not fit the views.
///
/// Example:
///     SparsePlsSolution fitted = sparse_pls(views, y, {.components = 2, .keep = {20, 5}});
///     Matrix<double> scores = (x * fitted.views[0].coefficients).rowwise() + fitted.views[0].intercept;
SparsePlsSolution sparse_pls(std::span<const Matrix<double>> views, std::span<const int> y,
                             const SparsePlsOptions& options = {});

namespace detail {
/// S above: soft thresholding of g to `keep` nonzeros (0: all), scaled to length 1; zeros where g is zero.
Vector<double> sparse_direction(const Vector<double>& g, Index keep);
}  // namespace detail

}  // namespace tocca
