#include "tocca/linalg/whitened_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/covariance.h"
#include "tocca/linalg/principal.h"

namespace tocca::detail {
namespace {

/// The sign of the largest-magnitude entry of each column of w.
RowVector<double> signs_of(const Matrix<double>& w) {
  RowVector<double> signs = RowVector<double>::Ones(w.cols());
  for (Index j = 0; j < w.cols() && w.rows() > 0; ++j) {
    Index top = 0;
    w.col(j).cwiseAbs().maxCoeff(&top);
    if (w(top, j) < 0) signs(j) = -1;
  }
  return signs;
}

}  // namespace

WhitenedView whiten_view(ConstMatrixRef<double> x, double ridge, double tolerance) {
  const auto degrees = static_cast<double>(x.rows() - 1);
  Matrix<double> centred = centre(x).rows;
  RowVector<double> scale = RowVector<double>::Ones(x.cols());
  if (ridge == 0) scale = inverse_deviations(centred.colwise().squaredNorm() / degrees);
  centred *= scale.asDiagonal();
  const PrincipalAxes principal = principal_axes(centred, degrees);
  // Centring takes one direction out of the n.
  const Vector<double> variances = principal.variances.head(std::min(x.rows() - 1, x.cols())).array() + ridge;
  const Index rank = count_above(variances, tolerance);
  WhitenedView view{variances.head(rank).cwiseSqrt().cwiseInverse().asDiagonal() * principal.axes.topRows(rank),
                    Matrix<double>(x.rows(), rank)};
  multiply_a_bt<double>(centred, view.map, view.rows, 1 / std::sqrt(degrees));
  view.map *= scale.asDiagonal();
  return view;
}

std::vector<Matrix<double>> weights_of_directions(const std::vector<WhitenedView>& views,
                                                  ConstMatrixRef<double> directions) {
  std::vector<Matrix<double>> weights;
  Index top = 0;
  for (const WhitenedView& view : views) {
    const Index rank = view.map.rows();
    weights.emplace_back(view.map.cols(), directions.cols());
    multiply_at_b<double>(view.map, directions.middleRows(top, rank), weights.back());
    top += rank;
  }
  const RowVector<double> signs = signs_of(weights.front());
  for (Matrix<double>& w : weights) w *= signs.asDiagonal();
  return weights;
}

void require_views(std::string_view where, std::span<const Matrix<double>> views, std::size_t least) {
  if (views.size() < least)
    throw InputError(where, fmt::format("number of views: got {}, need at least {}; add views", views.size(), least));
  for (std::size_t v = 0; v < views.size(); ++v) {
    require_equal_rows(where, views[0], views[v]);
    if (views[v].rows() < 2)
      throw InputError(where, fmt::format("number of samples: got {}, need at least 2; add samples", views[v].rows()));
    if (views[v].cols() == 0)
      throw InputError(where, fmt::format("columns of view {}: got 0, need at least 1; pass the data", v + 1));
    require_finite(where, fmt::format("view {}", v + 1), views[v]);
  }
}

}  // namespace tocca::detail
