#include "tocca/ops/cca_layer.h"

#include <fmt/format.h>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// Turns the signs of singular vectors so that the largest-magnitude entry of each column of R₁ U is positive.
void orient(const Matrix<double>& root1, ThinSvd& svd) {
  Matrix<double> weights(svd.left.rows(), svd.left.cols());
  multiply<double>(root1, svd.left, weights);
  for (Index j = 0; j < weights.cols(); ++j) {
    Index top = 0;
    weights.col(j).cwiseAbs().maxCoeff(&top);
    if (weights(top, j) > 0) continue;
    svd.left.col(j) *= -1;
    svd.right_t.row(j) *= -1;
  }
}

template <class S>
void project(const WhitenedView& view, const Matrix<double>& weights, MatrixRef<S> b) {
  Matrix<double> projected(view.centred.rows(), weights.cols());
  multiply<double>(view.centred, weights, projected);
  b = projected.template cast<S>();
}

/// W₁ and W₂ from the pair and its decomposition.
void weigh(const CcaLayerCache& cache, MatrixMap<double>& weights1, MatrixMap<double>& weights2) {
  const Matrix<double>&root1 = cache.pair.view1.root, &root2 = cache.pair.view2.root;
  if (cache.basis == CcaBasis::aligned) {
    multiply<double>(root1, polar_factor(cache.svd), weights1);
    weights2 = root2;
    return;
  }
  multiply<double>(root1, cache.svd.left.leftCols(weights1.cols()), weights1);
  multiply_a_bt<double>(root2, cache.svd.right_t.topRows(weights2.cols()), weights2);
}

void require_all_components(Index d1, Index d2, Index k) {
  if (d1 == k && d2 == k) return;
  throw InputError("cca_layer", fmt::format("aligned basis: got {} and {} columns and {} components, need the same "
                                            "number of each; use the canonical basis",
                                            d1, d2, k));
}

/// One view's way back through B = H̄ W, W = R U.
struct ProjectionGradients {
  Matrix<double> vectors;  ///< ∂L/∂U (d × r); zero in the components that are not kept
  Matrix<double> root;     ///< ∂L/∂R (d × d), the part through W
  Matrix<double> centred;  ///< ∂L/∂H̄ (m × d), the part through B
};

ProjectionGradients project_backward(const WhitenedView& view, const Matrix<double>& vectors,
                                     const Matrix<double>& weights, const Matrix<double>& db) {
  const Index d = weights.rows(), k = weights.cols();
  ProjectionGradients g{Matrix<double>::Zero(d, vectors.cols()), Matrix<double>(d, d), Matrix<double>(db.rows(), d)};
  Matrix<double> dw(d, k);
  multiply_at_b<double>(view.centred, db, dw);
  multiply<double>(view.root, dw, g.vectors.leftCols(k));
  multiply_a_bt<double>(dw, vectors.leftCols(k), g.root);
  multiply_a_bt<double>(db, weights, g.centred);
  return g;
}

/// Through T = R₁ Σ₁₂ R₂ and R_v = (Σ_v + rI)^{-1/2}; root_v: ∂L/∂R_v past T.
CovarianceGradients covariance_gradients(const WhitenedPair& pair, const Matrix<double>& dt, Matrix<double>& root1,
                                         Matrix<double>& root2) {
  const Index d1 = dt.rows(), d2 = dt.cols();
  Matrix<double> left(d1, d2), right(d1, d2);  // R₁ ∂L/∂T and ∂L/∂T R₂
  multiply<double>(pair.view1.root, dt, left);
  multiply<double>(dt, pair.view2.root, right);
  multiply_a_bt<double>(right, pair.s12, root1, 1, 1);
  multiply_at_b<double>(pair.s12, left, root2, 1, 1);
  CovarianceGradients gradients{inverse_sqrt_adjoint(pair.view1.eigen, root1),
                                inverse_sqrt_adjoint(pair.view2.eigen, root2), Matrix<double>(d1, d2)};
  multiply<double>(left, pair.view2.root, gradients.s12);
  return gradients;
}

}  // namespace

template <class S>
void cca_layer_forward(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, CcaBasis basis,
                       double batch_number, CcaLayerStatistics& statistics, CcaLayerCache& cache, MatrixRef<S> b1,
                       MatrixRef<S> b2) {
  if (basis == CcaBasis::aligned) require_all_components(h1.cols(), h2.cols(), statistics.weights1.cols());
  cache.basis = basis;
  cache.pair = whiten_pair<S>(h1, h2, options, batch_number, statistics.pair);
  cache.svd = thin_svd(cache.pair.t);
  orient(cache.pair.view1.root, cache.svd);
  weigh(cache, statistics.weights1, statistics.weights2);
  statistics.centre1 = cache.pair.view1.centre;
  statistics.centre2 = cache.pair.view2.centre;
  cache.weights1 = statistics.weights1;
  cache.weights2 = statistics.weights2;
  project<S>(cache.pair.view1, cache.weights1, b1);
  project<S>(cache.pair.view2, cache.weights2, b2);
}

template <class S>
void cca_layer_backward(const CcaLayerCache& cache, ConstMatrixRef<S> db1, ConstMatrixRef<S> db2, MatrixRef<S> dh1,
                        MatrixRef<S> dh2) {
  const ThinSvd& svd = cache.svd;
  const bool aligned = cache.basis == CcaBasis::aligned;
  // W_v = R_v U_v: of the second view U₂ = V, or aligned I, and of the first U₁ = U, or U Vᵀ.
  const Matrix<double> u1 = aligned ? polar_factor(svd) : svd.left;
  const Matrix<double> u2 =
      aligned ? Matrix<double>::Identity(u1.rows(), u1.cols()) : Matrix<double>(svd.right_t.transpose());
  ProjectionGradients g1 = project_backward(cache.pair.view1, u1, cache.weights1, db1.template cast<double>());
  ProjectionGradients g2 = project_backward(cache.pair.view2, u2, cache.weights2, db2.template cast<double>());
  const Matrix<double> dt =
      aligned ? polar_factor_adjoint(svd, g1.vectors)
              : thin_svd_adjoint(svd, {g1.vectors, Vector<double>::Zero(svd.values.size()), g2.vectors.transpose()});
  whiten_pair_backward(cache.pair, covariance_gradients(cache.pair, dt, g1.root, g2.root), g1.centred, g2.centred);
  dh1 = g1.centred.template cast<S>();
  dh2 = g2.centred.template cast<S>();
}

#define TOCCA_INSTANTIATE(S)                                                                                         \
  template void cca_layer_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, const ViewPairOptions&, CcaBasis, double, \
                                     CcaLayerStatistics&, CcaLayerCache&, MatrixRef<S>, MatrixRef<S>);               \
  template void cca_layer_backward<S>(const CcaLayerCache&, ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>,      \
                                      MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
