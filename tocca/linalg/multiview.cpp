#include "tocca/linalg/multiview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/labelled.h"
#include "tocca/linalg/symmetric.h"
#include "tocca/linalg/whitened_views.h"

namespace tocca {
namespace {

using detail::WhitenedView;

std::vector<WhitenedView> whiten(std::span<const Matrix<double>> views, const MultiviewOptions& options) {
  std::vector<WhitenedView> whitened;
  for (std::size_t v = 0; v < views.size(); ++v)
    whitened.push_back(detail::whiten_view(views[v], detail::ridge_of(options, v), options.rank_tolerance));
  return whitened;
}

std::vector<Index> ranks_of(const std::vector<WhitenedView>& views) {
  std::vector<Index> ranks;
  ranks.reserve(views.size());
  for (const WhitenedView& view : views) ranks.push_back(view.map.rows());
  return ranks;
}

Index sum(const std::vector<Index>& counts) {
  Index total = 0;
  for (const Index count : counts) total += count;
  return total;
}

/// PᵀP (R × R) of the whitened rows P = [P₁, ..., P_V].
Matrix<double> cross_products(const std::vector<WhitenedView>& views, Index columns) {
  Matrix<double> rows(views[0].rows.rows(), columns);
  Index left = 0;
  for (const WhitenedView& view : views) {
    rows.middleCols(left, view.rows.cols()) = view.rows;
    left += view.rows.cols();
  }
  Matrix<double> products(columns, columns);
  multiply_at_a<double>(rows, products);
  return products;
}

/// The largest eigenvalues (k) and their directions (R × k).
struct Leading {
  Vector<double> values;
  Matrix<double> directions;
};

Leading leading(const Matrix<double>& products, const std::vector<Index>& ranks, Index asked) {
  const Index k = asked == 0 ? *std::min_element(ranks.begin(), ranks.end()) : std::min(asked, products.rows());
  const SymmetricEigen eigen = symmetric_eigen(products);
  // Rounding must not carry them out of their range.
  const auto most = static_cast<double>(ranks.size());
  return {eigen.values.reverse().head(k).cwiseMax(0).cwiseMin(most), eigen.vectors.rowwise().reverse().leftCols(k)};
}

MultiviewSolution mcca_of(const std::vector<WhitenedView>& views, Index components) {
  const std::vector<Index> ranks = ranks_of(views);
  Matrix<double> products = cross_products(views, sum(ranks));
  // Σ_v with its ridge is whitened to the identity.
  Index top = 0;
  for (const Index rank : ranks) {
    products.block(top, top, rank, rank).setIdentity();
    top += rank;
  }
  const Leading found = leading(products, ranks, components);
  const double scale = std::sqrt(static_cast<double>(views.size()));
  return {detail::weights_of_directions(views, scale * found.directions), found.values, ranks};
}

}  // namespace

namespace detail {

double ridge_of(const MultiviewOptions& options, std::size_t v) {
  if (options.ridges.empty()) return 0;
  return options.ridges.size() == 1 ? options.ridges[0] : options.ridges.at(v);
}

void require_multiview(std::string_view where, std::span<const Matrix<double>> views, std::size_t least,
                       const MultiviewOptions& options) {
  options.validate();
  require_views(where, views, least);
  if (options.ridges.size() > 1 && options.ridges.size() != views.size())
    throw InputError(where, fmt::format("ridges: got {}, need {}, one for each view; or one for all",
                                        options.ridges.size(), views.size()));
}

std::vector<Matrix<double>> rows_of(std::span<const Matrix<double>> views, const std::vector<Index>& rows) {
  std::vector<Matrix<double>> chosen;
  for (const Matrix<double>& view : views) chosen.emplace_back(view(rows, Eigen::all));
  return chosen;
}

}  // namespace detail

void MultiviewOptions::validate() const {
  if (components < 0)
    throw InputError("multiview",
                     fmt::format("components: got {}, need 0 (all) or more; set how many to keep", components));
  for (const double ridge : ridges)
    if (!(ridge >= 0) || !std::isfinite(ridge))
      throw InputError("multiview", fmt::format("ridges: got {}, need finite numbers >= 0; use 0 for none", ridge));
  if (!(rank_tolerance >= 0 && rank_tolerance < 1))
    throw InputError("multiview",
                     fmt::format("rank_tolerance: got {}, need 0 <= rank_tolerance < 1; use 1e-10", rank_tolerance));
}

MultiviewSolution mcca(std::span<const Matrix<double>> views, const MultiviewOptions& options) {
  detail::require_multiview("mcca", views, 2, options);
  return mcca_of(whiten(views, options), options.components);
}

MultiviewSolution gcca(std::span<const Matrix<double>> views, const MultiviewOptions& options) {
  detail::require_multiview("gcca", views, 2, options);
  const std::vector<WhitenedView> whitened = whiten(views, options);
  const std::vector<Index> ranks = ranks_of(whitened);
  // P Pᵀ, whose eigenvectors are G, has the eigenvalues of PᵀP: with PᵀP u = ρ u it is G = P u / √ρ, and Pᵀ G = √ρ u.
  Leading found = leading(cross_products(whitened, sum(ranks)), ranks, options.components);
  found.directions *= found.values.cwiseSqrt().asDiagonal();
  return {detail::weights_of_directions(whitened, found.directions), found.values, ranks};
}

MultiviewSolution smvcca(std::span<const Matrix<double>> views, std::span<const int> y,
                         const MultiviewOptions& options) {
  detail::require_multiview("smvcca", views, 1, options);
  detail::require_labels("smvcca", views[0].rows(), y, std::numeric_limits<int>::max());
  const detail::LabelledRows labelled = detail::labelled_rows(y);
  detail::require_two_classes("smvcca", labelled);
  std::vector<WhitenedView> whitened = whiten(detail::rows_of(views, labelled.rows), options);
  whitened.push_back(detail::whiten_view(detail::indicators(labelled), 0, options.rank_tolerance));
  MultiviewSolution solution = mcca_of(whitened, options.components);
  solution.weights.pop_back();
  solution.ranks.pop_back();
  return solution;
}

}  // namespace tocca
