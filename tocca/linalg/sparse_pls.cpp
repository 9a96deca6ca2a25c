#include "tocca/linalg/sparse_pls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/linalg/covariance.h"
#include "tocca/linalg/labelled.h"
#include "tocca/linalg/symmetric.h"
#include "tocca/linalg/whitened_views.h"

namespace tocca {
namespace {

/// Relative to what could be, this is rounding.
constexpr double kNothing = 1e-12;
/// Deflating Y by several views wears it down in steps whose rounding adds up.
constexpr double kNothingOfOutcome = 1e-10;
constexpr double kTied = 1e-10;

/// A view, or the classes, while components are taken out of it.
struct Block {
  Matrix<double> rows;   ///< (m × d) centred
  double norm = 0;       ///< of all entries
  Index keep = 0;        ///< 0: all
  Matrix<double> basis;  ///< (m × h) the directions taken out, orthonormal, which `rows` still has
  Vector<double> loading, variate;
};

double norm_of(const Matrix<double>& x) { return std::sqrt(x.squaredNorm()); }

/// z less its part in the directions taken out; a second pass takes what rounding left of it.
Vector<double> deflated(const Block& block, Vector<double> z) {
  if (block.basis.cols() == 0) return z;
  for (int pass = 0; pass < 2; ++pass) z -= block.basis * (block.basis.transpose() * z).eval();
  return z;
}

/// X_vᵀ z of the deflated view; zero where that is rounding.
Vector<double> covariances(const Block& block, const Vector<double>& z) {
  Vector<double> g = block.rows.transpose() * deflated(block, z);
  if (!(g.norm() > kNothing * block.norm * z.norm())) g.setZero();
  return g;
}

std::vector<Index> nonzeros(const Vector<double>& a) {
  std::vector<Index> found;
  for (Index j = 0; j < a.size(); ++j)
    if (a(j) != 0) found.push_back(j);
  return found;
}

/// x a, where a may have few nonzeros.
Vector<double> product(const Matrix<double>& x, const Vector<double>& a) {
  const std::vector<Index> support = nonzeros(a);
  if (16 * static_cast<Index>(support.size()) > a.size()) return x * a;  // gathering is slower
  Vector<double> result = Vector<double>::Zero(x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (const Index j : support) result(i) += x(i, j) * a(j);
  return result;
}

/// Points the block at g; how far the loading has moved.
double turn(Block& block, const Vector<double>& g) {
  Vector<double> loading = detail::sparse_direction(g, block.keep);
  const double moved = block.loading.size() == 0 ? 1 : (loading - block.loading).norm();
  block.loading = std::move(loading);
  block.variate = deflated(block, product(block.rows, block.loading));
  return moved;
}

double covariance(const Block& a, const Block& b) {
  return a.variate.dot(b.variate) / static_cast<double>(a.variate.size() - 1);
}

double criterion_term(SparsePlsScheme scheme, double x) {
  if (scheme == SparsePlsScheme::horst) return x;
  return scheme == SparsePlsScheme::centroid ? std::abs(x) : x * x;
}

/// Its derivative, up to a factor.
double pull(SparsePlsScheme scheme, double x) {
  if (scheme == SparsePlsScheme::horst) return 1;
  return scheme == SparsePlsScheme::centroid ? (x < 0 ? -1 : 1) : x;
}

/// All views and, last, the classes, with the weights of the links between them.
class Component {
 public:
  Component(std::vector<Block>& blocks, const Matrix<double>& links, SparsePlsScheme scheme)
      : blocks_(blocks), links_(links), scheme_(scheme) {}

  void start() {
    Block& outcome = blocks_.back();
    const Index classes = outcome.rows.cols();
    std::vector<Matrix<double>> products;  // X_vᵀ Y
    Matrix<double> sum = Matrix<double>::Zero(classes, classes);
    for (std::size_t v = 0; v + 1 < blocks_.size(); ++v) {
      Matrix<double>& of_view = products.emplace_back(blocks_[v].rows.cols(), classes);
      for (Index c = 0; c < classes; ++c) of_view.col(c) = covariances(blocks_[v], outcome.rows.col(c));
      sum += of_view.transpose() * of_view;
    }
    const Vector<double> leading = symmetric_eigen(sum).vectors.col(classes - 1);
    for (std::size_t v = 0; v + 1 < blocks_.size(); ++v) turn(blocks_[v], products[v] * leading);
    turn(outcome, sum.isZero(0) ? Vector<double>::Zero(classes).eval() : leading);
  }

  /// One round over all blocks; how far the loading that moved most has.
  double round() {
    double most = 0;
    for (std::size_t v = 0; v < blocks_.size(); ++v)
      most = std::max(most, turn(blocks_[v], covariances(blocks_[v], target(v))));
    return most;
  }

  [[nodiscard]] double objective() const {
    double sum = 0;
    for (std::size_t w = 0; w < blocks_.size(); ++w)
      for (std::size_t v = 0; v < w; ++v)
        sum += link(v, w) * criterion_term(scheme_, covariance(blocks_[v], blocks_[w]));
    return sum;
  }

  void settle_signs() {
    for (const Block& block : blocks_) {
      Index top = 0;
      if (block.loading.cwiseAbs().maxCoeff(&top) == 0) continue;
      if (block.loading(top) > 0) return;
      for (Block& flipped : blocks_) {
        flipped.loading = -flipped.loading;
        flipped.variate = -flipped.variate;
      }
      return;
    }
  }

  /// Takes the component out of the views and of the classes.
  void deflate() {
    Block& outcome = blocks_.back();
    Matrix<double> taken = Matrix<double>::Zero(outcome.rows.rows(), outcome.rows.cols());
    for (std::size_t v = 0; v + 1 < blocks_.size(); ++v) {
      const double length = blocks_[v].variate.norm();
      if (length == 0) continue;
      const Vector<double> direction = blocks_[v].variate / length;
      Matrix<double>& basis = blocks_[v].basis;
      basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
      basis.rightCols<1>() = direction;
      taken += direction * (direction.transpose() * outcome.rows).eval();
    }
    outcome.rows -= taken / static_cast<double>(blocks_.size() - 1);
    if (norm_of(outcome.rows) <= kNothingOfOutcome * outcome.norm) outcome.rows.setZero();
  }

 private:
  [[nodiscard]] double link(std::size_t v, std::size_t w) const {
    return links_(static_cast<Index>(v), static_cast<Index>(w));
  }
  /// z_v
  [[nodiscard]] Vector<double> target(std::size_t v) const {
    Vector<double> z = Vector<double>::Zero(blocks_[v].rows.rows());
    for (std::size_t w = 0; w < blocks_.size(); ++w)
      if (w != v && link(v, w) != 0)
        z += link(v, w) * pull(scheme_, covariance(blocks_[v], blocks_[w])) * blocks_[w].variate;
    return z;
  }

  std::vector<Block>& blocks_;
  const Matrix<double>& links_;
  SparsePlsScheme scheme_;
};

/// (V + 1 × V + 1), the classes last.
Matrix<double> links_with_outcome(const SparsePlsOptions& options, Index view_count) {
  Matrix<double> links = Matrix<double>::Ones(view_count + 1, view_count + 1);
  links.topLeftCorner(view_count, view_count).setConstant(options.design);
  if (options.links.size() > 0) links.topLeftCorner(view_count, view_count) = options.links;
  return links;
}

Block block_of(Matrix<double> rows, Index keep) {
  Block block;
  block.norm = norm_of(rows);
  block.keep = keep;
  block.basis.resize(rows.rows(), 0);
  block.rows = std::move(rows);
  return block;
}

Index keep_of(const SparsePlsOptions& options, std::size_t v) {
  if (options.keep.empty()) return 0;
  return options.keep.size() == 1 ? options.keep[0] : options.keep.at(v);
}

void require_keep(std::span<const Matrix<double>> views, const SparsePlsOptions& options) {
  if (options.keep.size() > 1 && options.keep.size() != views.size())
    throw InputError("sparse_pls", fmt::format("keep: got {}, need {}, one for each view; or one for all",
                                               options.keep.size(), views.size()));
  for (std::size_t v = 0; v < views.size(); ++v)
    if (keep_of(options, v) > views[v].cols())
      throw InputError("sparse_pls", fmt::format("keep of view {}: got {}, need at most its {} columns; use 0 for all",
                                                 v + 1, keep_of(options, v), views[v].cols()));
}

void require_links(Index view_count, const Matrix<double>& links) {
  if (links.size() == 0) return;
  if (links.rows() != view_count || links.cols() != view_count)
    throw InputError("sparse_pls", fmt::format("shape of links: got {} x {}, need {} x {}, one row for each view; "
                                               "leave out the classes",
                                               links.rows(), links.cols(), view_count, view_count));
  for (Index v = 0; v < view_count; ++v)
    for (Index w = 0; w < view_count; ++w)
      if (v != w && !(links(v, w) >= 0 && links(v, w) <= 1 && links(v, w) == links(w, v)))
        throw InputError("sparse_pls",
                         fmt::format("link of views {} and {}: got {} and {}, need the same number in [0, 1] in both "
                                     "places; mend the matrix",
                                     v + 1, w + 1, links(v, w), links(w, v)));
}

void require_components(Index components, std::size_t labelled) {
  if (components >= static_cast<Index>(labelled))
    throw InputError("sparse_pls", fmt::format("components: got {}, need at most {}, the labelled samples less one; "
                                               "ask for fewer",
                                               components, labelled - 1));
}

/// The classes' indicators (centred), standardised.
Block outcome_block(const Matrix<double>& centred) {
  const RowVector<double> variances = centred.colwise().squaredNorm() / static_cast<double>(centred.rows() - 1);
  return block_of(centred * variances.cwiseSqrt().cwiseInverse().asDiagonal(), 0);
}

/// Room for K components.
void prepare(SparsePlsView& view, const Block& block, Index components) {
  view.loadings = view.weights = Matrix<double>::Zero(block.rows.cols(), components);
  view.variates = Matrix<double>::Zero(block.rows.rows(), components);
  view.explained_variance = view.outcome_correlations = Vector<double>::Zero(components);
}

/// Component k of a view, once its loading has been found. `projections` (K × d) are p = Xᵀt / tᵀt of those before.
void record(SparsePlsView& view, const Block& block, const Vector<double>& outcome, Index k,
            Matrix<double>& projections) {
  view.loadings.col(k) = block.loading;
  view.variates.col(k) = block.variate;
  view.selected.push_back(nonzeros(block.loading));
  const double square = block.variate.squaredNorm();
  if (square == 0) return;
  projections.row(k) = (block.rows.transpose() * block.variate).transpose() / square;
  // X W = T: deflation took t_j p_jᵀ a_k, with t_j = X w_j, from X a_k.
  const Vector<double> taken = projections.topRows(k) * block.loading;
  view.weights.col(k) = block.loading - view.weights.leftCols(k) * taken;
  view.explained_variance(k) = square * projections.row(k).squaredNorm() / (block.norm * block.norm);
  const double lengths = std::sqrt(square) * outcome.norm();
  if (lengths > 0) view.outcome_correlations(k) = block.variate.dot(outcome) / lengths;
}

/// Rounds until the loadings rest; how many there were is appended to the solution.
void iterate(Component& component, const SparsePlsOptions& options, SparsePlsSolution& solution) {
  component.start();
  int iterations = 0;
  double moved = std::numeric_limits<double>::infinity();
  while (moved > options.tolerance && iterations < options.max_iterations) {
    moved = component.round();
    ++iterations;
  }
  component.settle_signs();
  solution.iterations.push_back(iterations);
  solution.converged.push_back(moved <= options.tolerance);
}

/// `blocks`: the views and, last, the classes.
void find_components(SparsePlsSolution& solution, std::vector<Block>& blocks, const Matrix<double>& links,
                     const SparsePlsOptions& options) {
  const Block& outcome = blocks.back();
  solution.outcome_loadings.resize(outcome.rows.cols(), options.components);
  solution.outcome_variates.resize(outcome.rows.rows(), options.components);
  solution.objectives.resize(options.components);
  std::vector<Matrix<double>> projections;
  for (std::size_t v = 0; v < solution.views.size(); ++v) {
    prepare(solution.views[v], blocks[v], options.components);
    projections.emplace_back(Matrix<double>::Zero(options.components, blocks[v].rows.cols()));
  }
  Component component(blocks, links, options.scheme);
  for (Index k = 0; k < options.components; ++k) {
    iterate(component, options, solution);
    solution.objectives(k) = component.objective();
    solution.outcome_loadings.col(k) = outcome.loading;
    solution.outcome_variates.col(k) = outcome.variate;
    for (std::size_t v = 0; v < solution.views.size(); ++v)
      record(solution.views[v], blocks[v], outcome.variate, k, projections[v]);
    component.deflate();
  }
}

/// Least squares of the indicators on the variates, which are orthogonal, brought back to the view's columns.
void regress(SparsePlsView& view, const Centred& of_classes) {
  Matrix<double> on_variates = view.variates.transpose() * of_classes.rows;
  for (Index k = 0; k < on_variates.rows(); ++k) {
    const double square = view.variates.col(k).squaredNorm();
    if (square > 0) on_variates.row(k) /= square;
  }
  view.coefficients = view.weights * on_variates;
  view.intercept = of_classes.mean - view.mean * view.coefficients;
}

}  // namespace

namespace detail {

Vector<double> sparse_direction(const Vector<double>& g, Index keep) {
  Vector<double> magnitudes = g.cwiseAbs();
  const double most = magnitudes.size() == 0 ? 0 : magnitudes.maxCoeff();
  if (most == 0) return Vector<double>::Zero(g.size());
  magnitudes /= most;  // so that squares neither overflow nor vanish
  magnitudes = (magnitudes.array() > kNothing).select(magnitudes, 0);
  if (keep > 0 && keep < g.size()) {
    std::vector<double> sorted(magnitudes.begin(), magnitudes.end());
    std::nth_element(sorted.begin(), sorted.begin() + (keep - 1), sorted.end(), std::greater<>());
    const double least = sorted[static_cast<std::size_t>(keep - 1)];
    const double above = least * (1 + kTied), below = least * (1 - kTied);
    const double threshold = (magnitudes.array() < below).select(magnitudes, 0).maxCoeff();
    Index places_for_tied = keep - (magnitudes.array() > above).count();
    for (double& x : magnitudes) {
      const bool kept = x > above || (x >= below && places_for_tied-- > 0);
      x = kept ? x - threshold : 0;
    }
  }
  return (magnitudes / magnitudes.norm()).cwiseProduct(g.cwiseSign());
}

}  // namespace detail

void SparsePlsOptions::validate() const {
  if (components < 1)
    throw InputError("sparse_pls",
                     fmt::format("components: got {}, need at least 1; set how many to find", components));
  for (const Index count : keep)
    if (count < 0)
      throw InputError("sparse_pls", fmt::format("keep: got {}, need 0 (all) or more; set how many columns", count));
  if (!(design >= 0 && design <= 1))
    throw InputError("sparse_pls", fmt::format("design: got {}, need 0 <= design <= 1; use 0.1", design));
  if (!(tolerance > 0) || !std::isfinite(tolerance))
    throw InputError("sparse_pls", fmt::format("tolerance: got {}, need a positive number; use 1e-6", tolerance));
  if (max_iterations < 1)
    throw InputError("sparse_pls", fmt::format("max_iterations: got {}, need at least 1; use 100", max_iterations));
}

SparsePlsSolution sparse_pls(std::span<const Matrix<double>> views, std::span<const int> y,
                             const SparsePlsOptions& options) {
  options.validate();
  detail::require_views("sparse_pls", views, 1);
  const auto view_count = static_cast<Index>(views.size());
  require_keep(views, options);
  require_links(view_count, options.links);
  detail::require_labels("sparse_pls", views[0].rows(), y, std::numeric_limits<int>::max());
  const detail::LabelledRows labelled = detail::labelled_rows(y);
  detail::require_two_classes("sparse_pls", labelled);
  require_components(options.components, labelled.rows.size());

  SparsePlsSolution solution;
  solution.classes = labelled.present;
  solution.views.resize(views.size());
  std::vector<Block> blocks;
  for (std::size_t v = 0; v < views.size(); ++v) {
    Centred centred = centre(views[v](labelled.rows, Eigen::all));
    solution.views[v].mean = std::move(centred.mean);
    blocks.push_back(block_of(std::move(centred.rows), keep_of(options, v)));
  }
  const Centred of_classes = centre(detail::indicators(labelled));
  blocks.push_back(outcome_block(of_classes.rows));
  find_components(solution, blocks, links_with_outcome(options, view_count), options);
  for (SparsePlsView& view : solution.views) regress(view, of_classes);
  return solution;
}

}  // namespace tocca
