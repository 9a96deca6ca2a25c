#include "tocca/linalg/mvda.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tocca/linalg/labelled.h"
#include "tocca/linalg/svd.h"
#include "tocca/linalg/whitened_views.h"

namespace tocca {
namespace {

/// H (C × R) with HᵀH = S of the whitened views: row c is √(m_c / V) [μ_c1, ..., μ_cV] / √(n − 1).
Matrix<double> between_rows(const std::vector<detail::WhitenedView>& views, const std::vector<Index>& class_of_row,
                            Index class_count) {
  Index columns = 0;
  for (const detail::WhitenedView& view : views) columns += view.rows.cols();
  Matrix<double> sums = Matrix<double>::Zero(class_count, columns);
  Vector<double> counts = Vector<double>::Zero(class_count);
  for (std::size_t i = 0; i < class_of_row.size(); ++i) {
    Index left = 0;
    for (const detail::WhitenedView& view : views) {
      sums.row(class_of_row[i]).segment(left, view.rows.cols()) += view.rows.row(static_cast<Index>(i));
      left += view.rows.cols();
    }
    ++counts(class_of_row[i]);
  }
  const Vector<double> scale = (counts * static_cast<double>(views.size())).cwiseSqrt().cwiseInverse();
  return scale.asDiagonal() * sums;
}

}  // namespace

MultiviewSolution mvda(std::span<const Matrix<double>> views, std::span<const int> y, const MultiviewOptions& options) {
  detail::require_multiview("mvda", views, 1, options);
  detail::require_labels("mvda", views[0].rows(), y, std::numeric_limits<int>::max());
  const detail::LabelledRows labelled = detail::labelled_rows(y);
  detail::require_two_classes("mvda", labelled);
  const std::vector<Matrix<double>> chosen = detail::rows_of(views, labelled.rows);
  MultiviewSolution solution;
  std::vector<detail::WhitenedView> whitened;
  for (std::size_t v = 0; v < chosen.size(); ++v) {
    whitened.push_back(detail::whiten_view(chosen[v], detail::ridge_of(options, v), options.rank_tolerance));
    solution.ranks.push_back(whitened.back().map.rows());
  }
  const auto class_count = static_cast<Index>(labelled.present.size());
  const ThinSvd svd = thin_svd(between_rows(whitened, labelled.ordinals(), class_count));
  // Centring takes one direction out of the C.
  const Index available = std::min(class_count - 1, svd.values.size());
  const Index k = options.components == 0 ? available : std::min(options.components, available);
  const Vector<double> shares = svd.values.head(k).array().square();  // between over total
  solution.eigenvalues = shares.array() / (1 - shares.array()).max(std::numeric_limits<double>::epsilon());
  const Matrix<double> directions = std::sqrt(static_cast<double>(views.size())) * svd.right_t.topRows(k).transpose();
  solution.weights = detail::weights_of_directions(whitened, directions);
  return solution;
}

}  // namespace tocca
