#include "tocca/linalg/kmeans.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/covariance.h"

namespace tocca {
namespace {

constexpr Index kBlock = 256;  // rows whose distances to all centres are held at once

/// The cluster of each row.
using Clusters = std::vector<int>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A row, drawn in proportion to the weights; all alike if these are zero.
Index draw(const Vector<double>& weights, Rng& rng) {
  const double total = weights.sum();
  const auto n = static_cast<std::uint64_t>(weights.size());
  if (!(total > 0)) return static_cast<Index>(rng.below(n));
  double left = rng.uniform() * total;
  Index last = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    if (!(weights(i) > 0)) continue;
    last = i;  // kept if rounding leaves something over
    if (left < weights(i)) break;
    left -= weights(i);
  }
  return last;
}

/// k-means++.
Matrix<double> draw_start(ConstMatrixRef<double> x, Index clusters, Rng rng) {
  Matrix<double> centres(clusters, x.cols());
  Vector<double> closest = Vector<double>::Zero(x.rows());  // squared distances
  for (Index c = 0; c < clusters; ++c) {
    centres.row(c) = x.row(draw(closest, rng));
    for (Index i = 0; i < x.rows(); ++i) {
      const double distance = (x.row(i) - centres.row(c)).squaredNorm();
      closest(i) = c == 0 ? distance : std::min(closest(i), distance);
    }
  }
  return centres;
}

/// ½ ‖row − centre‖² without the part that all centres share: ½ ‖centre‖² − row · centre.
Clusters closest_centres(ConstMatrixRef<double> x, ConstMatrixRef<double> centres) {
  Clusters labels(at(x.rows()));
  const RowVector<double> half_squares = centres.rowwise().squaredNorm().transpose() / 2;
  Matrix<double> block(std::min(kBlock, x.rows()), centres.rows());
  for (Index first = 0; first < x.rows(); first += kBlock) {
    const Index rows = std::min(kBlock, x.rows() - first);
    auto distances = block.topRows(rows);
    distances.rowwise() = half_squares;
    multiply_a_bt<double>(x.middleRows(first, rows), centres, distances, -1, 1);
    for (Index i = 0; i < rows; ++i) {
      Index closest = 0;
      distances.row(i).minCoeff(&closest);
      labels[at(first + i)] = static_cast<int>(closest);
    }
  }
  return labels;
}

std::vector<Index> cluster_sizes(const Clusters& labels, Index clusters) {
  std::vector<Index> sizes(at(clusters), 0);
  for (const int c : labels) ++sizes[at(c)];
  return sizes;
}

Vector<double> squared_distances(ConstMatrixRef<double> x, ConstMatrixRef<double> centres, const Clusters& labels) {
  Vector<double> distances(x.rows());
  for (Index i = 0; i < x.rows(); ++i) distances(i) = (x.row(i) - centres.row(labels[at(i)])).squaredNorm();
  return distances;
}

/// Gives every cluster without rows the one that is farthest from its centre, among those that are not alone.
void fill_empty_clusters(ConstMatrixRef<double> x, ConstMatrixRef<double> centres, Clusters& labels) {
  std::vector<Index> sizes = cluster_sizes(labels, centres.rows());
  if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end()) return;
  const Vector<double> distances = squared_distances(x, centres, labels);
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (sizes[c] > 0) continue;
    Index farthest = -1;
    for (Index i = 0; i < x.rows(); ++i) {
      const bool alone = sizes[at(labels[at(i)])] == 1;
      if (!alone && (farthest < 0 || distances(i) > distances(farthest))) farthest = i;
    }
    --sizes[at(labels[at(farthest)])];
    labels[at(farthest)] = static_cast<int>(c);
    sizes[c] = 1;
  }
}

/// No cluster is empty.
Matrix<double> means(ConstMatrixRef<double> x, const Clusters& labels, Index clusters) {
  Matrix<double> centres = Matrix<double>::Zero(clusters, x.cols());
  for (Index i = 0; i < x.rows(); ++i) centres.row(labels[at(i)]) += x.row(i);
  const std::vector<Index> sizes = cluster_sizes(labels, clusters);
  for (Index c = 0; c < clusters; ++c) centres.row(c) /= static_cast<double>(sizes[at(c)]);
  return centres;
}

KMeansResult run(ConstMatrixRef<double> x, Matrix<double> start, Index max_iterations) {
  KMeansResult result{.labels = {}, .centres = std::move(start)};
  while (!result.converged && result.iterations < max_iterations) {
    Clusters labels = closest_centres(x, result.centres);
    fill_empty_clusters(x, result.centres, labels);
    ++result.iterations;
    result.converged = labels == result.labels;
    if (result.converged) break;
    result.labels = std::move(labels);
    result.centres = means(x, result.labels, result.centres.rows());
  }
  result.inertia = squared_distances(x, result.centres, result.labels).sum();
  return result;
}

void require_usable(ConstMatrixRef<double> x, Index clusters, const KMeansOptions& options) {
  options.validate();
  if (clusters < 1 || clusters > x.rows())
    throw InputError("kmeans", fmt::format("clusters: got {} for {} rows, need 1 to as many as there are rows; ask for "
                                           "fewer, or pass more rows",
                                           clusters, x.rows()));
  detail::require_finite("kmeans", "x", x);
  if (options.start.size() == 0) return;
  detail::require_shape("kmeans", "the start", options.start, clusters, x.cols());
  detail::require_finite("kmeans", "start", options.start);
}

}  // namespace

void KMeansOptions::validate() const {
  if (restarts < 1)
    throw InputError("kmeans", fmt::format("restarts: got {}, need at least 1; the default is 10", restarts));
  if (max_iterations < 1)
    throw InputError("kmeans",
                     fmt::format("max_iterations: got {}, need at least 1; the default is 300", max_iterations));
}

KMeansResult kmeans(ConstMatrixRef<double> x, Index clusters, const KMeansOptions& options, Rng rng) {
  require_usable(x, clusters, options);
  // About the mean, so that rows far from the origin lose no digits in ‖centre‖² − 2 row · centre.
  const Centred centred = centre(x);
  KMeansResult best;
  if (options.start.size() > 0) {
    best = run(centred.rows, options.start.rowwise() - centred.mean, options.max_iterations);
  } else {
    for (Index r = 0; r < options.restarts; ++r) {
      const Rng own = rng.split("kmeans", static_cast<std::uint64_t>(r));
      KMeansResult result = run(centred.rows, draw_start(centred.rows, clusters, own), options.max_iterations);
      if (r == 0 || result.inertia < best.inertia) best = std::move(result);
    }
  }
  best.centres.rowwise() += centred.mean;
  return best;
}

}  // namespace tocca
