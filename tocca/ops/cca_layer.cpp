#include "tocca/ops/cca_layer.h"

#include <fmt/format.h>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// Turns the signs of singular vectors so that the largest-magnitude entry of each column of R₁ U is positive.
void orient(const Matrix<double>& root1, ThinSvd& svd, Workspace& work) {
  const Workspace::Frame frame(work);
  MatrixMap<double> weights = work.matrix<double>(svd.left.rows(), svd.left.cols());
  multiply<double>(root1, svd.left, weights);
  for (Index j = 0; j < weights.cols(); ++j) {
    Index top = 0;
    weights.col(j).cwiseAbs().maxCoeff(&top);
    if (weights(top, j) > 0) continue;
    svd.left.col(j) *= -1;
    svd.right_t.row(j) *= -1;
  }
}

/// W₁ and W₂ from the pair and its decomposition.
void make_weights(CcaLayerCache& cache, MatrixMap<double>& weights1, MatrixMap<double>& weights2) {
  const Matrix<double>&root1 = cache.pair.view1.root, &root2 = cache.pair.view2.root;
  if (cache.basis == CcaBasis::aligned) {
    const Workspace::Frame frame(cache.work);
    MatrixMap<double> turn = cache.work.matrix<double>(weights1.rows(), weights1.cols());
    polar_factor(cache.svd, turn);
    multiply<double>(root1, turn, weights1);
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

template <class S>
void project(const WhitenedView& view, const Matrix<double>& weights, MatrixRef<S> b, Workspace& work) {
  const Workspace::Frame frame(work);
  MatrixMap<double> projected = work.matrix<double>(b.rows(), weights.cols());
  multiply<double>(view.centred.map(), weights, projected);
  b = projected.template cast<S>();
}

/// One view's way back through B = H̄ W, W = R U.
struct ProjectionGradients {
  MatrixMap<double> vectors;  ///< ∂L/∂U (d × r); zero in the components that are not kept
  MatrixMap<double> root;     ///< ∂L/∂R (d × d), the part through W
  MatrixMap<double> centred;  ///< ∂L/∂H̄ (m × d), the part through B
};

template <class S>
ProjectionGradients project_backward(const WhitenedView& view, ConstMatrixRef<double> vectors,
                                     const Matrix<double>& weights, ConstMatrixRef<S> db, Workspace& work) {
  const Index m = db.rows(), d = weights.rows(), k = weights.cols();
  ProjectionGradients g{work.matrix<double>(d, vectors.cols()), work.matrix<double>(d, d), work.matrix<double>(m, d)};
  const Workspace::Frame frame(work);
  MatrixMap<double> as_double = work.matrix<double>(m, k), dw = work.matrix<double>(d, k);
  as_double = db.template cast<double>();
  multiply_at_b<double>(view.centred.map(), as_double, dw);
  g.vectors.rightCols(vectors.cols() - k).setZero();
  multiply<double>(view.root, dw, g.vectors.leftCols(k));
  multiply_a_bt<double>(dw, vectors.leftCols(k), g.root);
  multiply_a_bt<double>(as_double, weights, g.centred);
  return g;
}

/// Through T = R₁ Σ₁₂ R₂ and R_v = (Σ_v + rI)^{-1/2}; root_v: in ∂L/∂R_v past T, out with what comes through T.
CovarianceGradients covariance_gradients(const WhitenedPair& pair, ConstMatrixRef<double> dt, MatrixRef<double> root1,
                                         MatrixRef<double> root2, Workspace& work) {
  const Index d1 = dt.rows(), d2 = dt.cols();
  MatrixMap<double> s11 = work.matrix<double>(d1, d1), s22 = work.matrix<double>(d2, d2);
  MatrixMap<double> s12 = work.matrix<double>(d1, d2);
  const Workspace::Frame frame(work);
  MatrixMap<double> left = work.matrix<double>(d1, d2), right = work.matrix<double>(d1, d2);  // R₁ ∂L/∂T and ∂L/∂T R₂
  multiply<double>(pair.view1.root, dt, left);
  multiply<double>(dt, pair.view2.root, right);
  multiply_a_bt<double>(right, pair.s12, root1, 1, 1);
  multiply_at_b<double>(pair.s12, left, root2, 1, 1);
  inverse_sqrt_adjoint(pair.view1.eigen, root1, s11, work);
  inverse_sqrt_adjoint(pair.view2.eigen, root2, s22, work);
  multiply<double>(left, pair.view2.root, s12);
  return {s11, s22, s12};
}

/// U₁ and U₂ of W_v = R_v U_v: U and V, or in the aligned basis U Vᵀ and I.
struct Directions {
  MatrixMap<double> first, second;
};

Directions directions(const CcaLayerCache& cache, Workspace& work) {
  const ThinSvd& svd = cache.svd;
  Directions u{work.matrix<double>(svd.left.rows(), svd.left.cols()),
               work.matrix<double>(svd.right_t.cols(), svd.right_t.rows())};
  if (cache.basis == CcaBasis::aligned) {
    polar_factor(svd, u.first);
    u.second.setIdentity();
  } else {
    u.first = svd.left;
    u.second = svd.right_t.transpose();
  }
  return u;
}

/// ∂L/∂T from the gradients with respect to these directions.
MatrixMap<double> through_directions(const CcaLayerCache& cache, const ProjectionGradients& g1,
                                     const ProjectionGradients& g2, Workspace& work) {
  const ThinSvd& svd = cache.svd;
  const Index r = svd.values.size();
  MatrixMap<double> dt = work.matrix<double>(svd.left.rows(), svd.right_t.cols());
  if (cache.basis == CcaBasis::aligned) {
    polar_factor_adjoint(svd, g1.vectors, dt, work);
    return dt;
  }
  const Workspace::Frame frame(work);
  Eigen::Map<Vector<double>> dvalues = work.vector<double>(r);
  MatrixMap<double> dright_t = work.matrix<double>(r, g2.vectors.rows());
  dvalues.setZero();
  dright_t = g2.vectors.transpose();
  thin_svd_adjoint(svd, {g1.vectors, dvalues, dright_t}, dt, work);
  return dt;
}

}  // namespace

template <class S>
void cca_layer_forward(ConstMatrixRef<S> h1, ConstMatrixRef<S> h2, const ViewPairOptions& options, CcaBasis basis,
                       double batch_number, CcaLayerStatistics& statistics, CcaLayerCache& cache, MatrixRef<S> b1,
                       MatrixRef<S> b2) {
  if (basis == CcaBasis::aligned) require_all_components(h1.cols(), h2.cols(), statistics.weights1.cols());
  cache.basis = basis;
  whiten_pair<S>(h1, h2, options, batch_number, statistics.pair, cache.pair, cache.work);
  thin_svd(cache.pair.t, cache.svd, cache.work);
  orient(cache.pair.view1.root, cache.svd, cache.work);
  make_weights(cache, statistics.weights1, statistics.weights2);
  statistics.centre1 = cache.pair.view1.centre;
  statistics.centre2 = cache.pair.view2.centre;
  cache.weights1 = statistics.weights1;
  cache.weights2 = statistics.weights2;
  project<S>(cache.pair.view1, cache.weights1, b1, cache.work);
  project<S>(cache.pair.view2, cache.weights2, b2, cache.work);
}

template <class S>
void cca_layer_backward(CcaLayerCache& cache, ConstMatrixRef<S> db1, ConstMatrixRef<S> db2, MatrixRef<S> dh1,
                        MatrixRef<S> dh2) {
  Workspace& work = cache.work;
  const WhitenedPair& pair = cache.pair;
  const Workspace::Frame frame(work);
  const Directions u = directions(cache, work);
  ProjectionGradients g1 = project_backward<S>(pair.view1, u.first, cache.weights1, db1, work);
  ProjectionGradients g2 = project_backward<S>(pair.view2, u.second, cache.weights2, db2, work);
  const MatrixMap<double> dt = through_directions(cache, g1, g2, work);
  whiten_pair_backward(pair, covariance_gradients(pair, dt, g1.root, g2.root, work), g1.centred, g2.centred, work);
  dh1 = g1.centred.template cast<S>();
  dh2 = g2.centred.template cast<S>();
}

#define TOCCA_INSTANTIATE(S)                                                                                         \
  template void cca_layer_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, const ViewPairOptions&, CcaBasis, double, \
                                     CcaLayerStatistics&, CcaLayerCache&, MatrixRef<S>, MatrixRef<S>);               \
  template void cca_layer_backward<S>(CcaLayerCache&, ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
