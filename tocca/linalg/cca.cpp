#include "tocca/linalg/cca.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/covariance.h"
#include "tocca/linalg/principal.h"
#include "tocca/linalg/svd.h"
#include "tocca/linalg/symmetric.h"

namespace tocca {
namespace {

double ridge2(const CcaOptions& options) { return options.ridge2.value_or(options.ridge); }

/// The leading singular vectors of T (r₁ × r₂), what relates two whitened views.
struct Paired {
  Matrix<double> directions1;  ///< U₁ (r₁ × k)
  Matrix<double> directions2;  ///< U₂ (r₂ × k)
  Vector<double> correlations;
};

Paired pair_directions(const Matrix<double>& t, const CcaOptions& options) {
  const ThinSvd svd = thin_svd(t);
  const Index available = svd.values.size();
  const Index k = options.components == 0 ? available : std::min(options.components, available);
  return {svd.left.leftCols(k), svd.right_t.topRows(k).transpose(), svd.values.head(k)};
}

void fix_signs(CcaSolution& solution) {
  for (Index j = 0; j < solution.weights1.cols(); ++j) {
    Index top = 0;
    solution.weights1.col(j).cwiseAbs().maxCoeff(&top);
    if (solution.weights1(top, j) > 0) continue;
    solution.weights1.col(j) *= -1;
    solution.weights2.col(j) *= -1;
  }
}

/// M with M (Σ + rI) Mᵀ = I, for the directions of the covariance that are not null: λ^{-1/2} vᵀ D in rows, of D (Σ +
/// rI) D with D its diagonal to the power −1/2. Which root of Σ + rI is inverted does not matter to CCA; this one does
/// not depend on the scales of the columns, nor does what is null.
Matrix<double> whitening_map(ConstMatrixRef<double> covariance, double ridge, double tolerance) {
  Matrix<double> scaled = covariance;
  scaled.diagonal().array() += ridge;
  const RowVector<double> scale = inverse_deviations(scaled.diagonal().transpose());
  scaled = scale.asDiagonal() * scaled * scale.asDiagonal();
  const SymmetricEigen eigen = symmetric_eigen(scaled);
  const Vector<double> variances = eigen.values.reverse().cwiseMax(0);
  const Index rank = detail::count_above(variances, tolerance);
  return variances.head(rank).cwiseSqrt().cwiseInverse().asDiagonal() *
         eigen.vectors.rowwise().reverse().leftCols(rank).transpose() * scale.asDiagonal();
}

CcaSolution through_covariances(ConstMatrixRef<double> s11, ConstMatrixRef<double> s22, ConstMatrixRef<double> s12,
                                const CcaOptions& options, const Context& context) {
  Matrix<double> map1, map2;
  context.parallel(2, [&](Index v) {
    if (v == 0) map1 = whitening_map(s11, options.ridge, options.rank_tolerance);
    if (v == 1) map2 = whitening_map(s22, ridge2(options), options.rank_tolerance);
  });
  Matrix<double> left(map1.rows(), s12.cols()), t(map1.rows(), map2.rows());
  multiply<double>(map1, s12, left);
  multiply_a_bt<double>(left, map2, t);
  const Paired paired = pair_directions(t, options);
  CcaSolution solution{Matrix<double>(map1.cols(), paired.directions1.cols()),
                       Matrix<double>(map2.cols(), paired.directions2.cols()), paired.correlations, map1.rows(),
                       map2.rows()};
  multiply_at_b<double>(map1, paired.directions1, solution.weights1);
  multiply_at_b<double>(map2, paired.directions2, solution.weights2);
  fix_signs(solution);
  return solution;
}

/// One view of few rows. Its whitening map (r × d) would be backᵀ X: rows times a few directions are had for less.
struct ThinView {
  Matrix<double> centred;   ///< X D (n × d)
  RowVector<double> scale;  ///< D: without a ridge 1/deviation of each column, and what is null does not depend on it
  Matrix<double> back;      ///< (n × r)
  Matrix<double> rows;      ///< (n × r) whitened, divided by √(n − 1)
};

ThinView whiten_thinly(ConstMatrixRef<double> x, double ridge, double tolerance) {
  const double scale = std::sqrt(static_cast<double>(x.rows() - 1));
  ThinView view{centre(x).rows, RowVector<double>::Ones(x.cols()), {}, {}};
  if (ridge == 0) view.scale = inverse_deviations(view.centred.colwise().squaredNorm() / (scale * scale));
  view.centred *= view.scale.asDiagonal();
  const LeftSvd svd = left_svd(view.centred);
  // Centring takes one direction out of the n.
  const Vector<double> deviations = svd.values.head(std::min(x.rows() - 1, x.cols())) / scale;
  const Vector<double> variances = deviations.array().square() + ridge;
  const Index rank = detail::count_above(variances, tolerance);
  const Vector<double> inverse = variances.head(rank).cwiseSqrt().cwiseInverse();
  // A ridge keeps directions without variance: rounding has no say there, their weight is zero.
  constexpr double kRounding = 1e-14;
  const Vector<double> kept = deviations.head(rank);
  const Vector<double> back = (kept.array() > kRounding * deviations(0)).select(inverse.array() / kept.array(), 0.0);
  view.back = svd.left.leftCols(rank) * (back / scale).asDiagonal();
  view.rows = svd.left.leftCols(rank) * kept.cwiseProduct(inverse).asDiagonal();
  return view;
}

/// The weights (d × k) of directions (r × k) among a view's whitened ones.
Matrix<double> weights_of(const ThinView& view, ConstMatrixRef<double> directions) {
  Matrix<double> of_rows(view.back.rows(), directions.cols()), weights(view.centred.cols(), directions.cols());
  multiply<double>(view.back, directions, of_rows);
  multiply_at_b<double>(view.centred, of_rows, weights);
  return view.scale.transpose().asDiagonal() * weights;
}

CcaSolution through_thin_views(ConstMatrixRef<double> x1, ConstMatrixRef<double> x2, const CcaOptions& options,
                               const Context& context) {
  ThinView view1, view2;
  context.parallel(2, [&](Index v) {
    if (v == 0) view1 = whiten_thinly(x1, options.ridge, options.rank_tolerance);
    if (v == 1) view2 = whiten_thinly(x2, ridge2(options), options.rank_tolerance);
  });
  Matrix<double> t(view1.rows.cols(), view2.rows.cols());
  multiply_at_b<double>(view1.rows, view2.rows, t);
  const Paired paired = pair_directions(t, options);
  CcaSolution solution{{}, {}, paired.correlations, t.rows(), t.cols()};
  context.parallel(2, [&](Index v) {
    if (v == 0) solution.weights1 = weights_of(view1, paired.directions1);
    if (v == 1) solution.weights2 = weights_of(view2, paired.directions2);
  });
  fix_signs(solution);
  return solution;
}

/// Of both views side by side, gathered in blocks so that they are never copied whole.
Matrix<double> joint_covariance(ConstMatrixRef<double> x1, ConstMatrixRef<double> x2) {
  const Index d1 = x1.cols(), d2 = x2.cols();
  CovarianceAccumulator gathered(d1 + d2);
  const Index most = gathered.block_rows();
  Matrix<double> block(std::min(most, x1.rows()), d1 + d2);
  for (Index top = 0; top < x1.rows(); top += most) {
    const Index rows = std::min(most, x1.rows() - top);
    block.topLeftCorner(rows, d1) = x1.middleRows(top, rows);
    block.topRightCorner(rows, d2) = x2.middleRows(top, rows);
    gathered.add_in_place(block.topRows(rows));
  }
  return gathered.covariance();
}

void require_views(ConstMatrixRef<double> x1, ConstMatrixRef<double> x2) {
  detail::require_equal_rows("cca", x1, x2);
  if (x1.rows() < 2)
    throw InputError("cca", fmt::format("number of samples: got {}, need at least 2; add samples", x1.rows()));
  if (x1.cols() == 0 || x2.cols() == 0)
    throw InputError("cca", fmt::format("columns of the two views: got {} and {}, need at least 1; pass the data",
                                        x1.cols(), x2.cols()));
  detail::require_finite("cca", "view 1", x1);
  detail::require_finite("cca", "view 2", x2);
}

}  // namespace

void CcaOptions::validate() const {
  if (components < 0)
    throw InputError("cca", fmt::format("components: got {}, need 0 (all) or more; set how many to keep", components));
  if (!(ridge >= 0) || !std::isfinite(ridge))
    throw InputError("cca", fmt::format("ridge: got {}, need a finite number >= 0; use 0 for plain CCA", ridge));
  if (ridge2 && (!(*ridge2 >= 0) || !std::isfinite(*ridge2)))
    throw InputError(
        "cca", fmt::format("ridge2: got {}, need a finite number >= 0; leave it out for that of view 1", *ridge2));
  if (!(rank_tolerance >= 0 && rank_tolerance < 1))
    throw InputError("cca",
                     fmt::format("rank_tolerance: got {}, need 0 <= rank_tolerance < 1; use 1e-10", rank_tolerance));
}

CcaSolution cca_from_covariances(ConstMatrixRef<double> s11, ConstMatrixRef<double> s22, ConstMatrixRef<double> s12,
                                 const CcaOptions& options, const Context& context) {
  options.validate();
  detail::require_shape("cca", "S11", s11, s12.rows(), s12.rows());
  detail::require_shape("cca", "S22", s22, s12.cols(), s12.cols());
  detail::require_finite("cca", "S11", s11);
  detail::require_finite("cca", "S22", s22);
  detail::require_finite("cca", "S12", s12);
  return through_covariances(s11, s22, s12, options, context);
}

CcaSolution cca(ConstMatrixRef<double> x1, ConstMatrixRef<double> x2, const CcaOptions& options,
                const Context& context) {
  options.validate();
  require_views(x1, x2);
  const Index d1 = x1.cols(), d2 = x2.cols();
  CcaSolution solution;
  if (x1.rows() > d1 + d2) {
    const Matrix<double> s = joint_covariance(x1, x2);
    solution = through_covariances(s.topLeftCorner(d1, d1), s.bottomRightCorner(d2, d2), s.topRightCorner(d1, d2),
                                   options, context);
  } else {
    solution = through_thin_views(x1, x2, options, context);
  }
  // Correlations of actual samples; rounding must not carry them above one.
  solution.correlations = solution.correlations.cwiseMin(1);
  return solution;
}

}  // namespace tocca
