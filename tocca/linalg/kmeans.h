/// k-means: groups of rows around their means.
#pragma once

#include <vector>

#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"

namespace tocca {

struct KMeansOptions {
  Index restarts = 10;         ///< ≥ 1: independent starts, of which the one with the smallest inertia is kept
  Index max_iterations = 300;  ///< ≥ 1, of each start
  Matrix<double> start = {};   ///< (clusters × d): the one start to take instead of random ones; empty: none

  /// Throws InputError naming a field out of its range.
  void validate() const;
};

struct KMeansResult {
  std::vector<int> labels;  ///< (n) cluster of each row, 0 ... clusters − 1; every cluster has a row
  Matrix<double> centres;   ///< (clusters × d) means of their rows
  double inertia = 0;       ///< Σ ‖row − its centre‖²
  Index iterations = 0;     ///< of the start that was kept
  bool converged = false;   ///< the last iteration changed no label: no centre is closer to a row than its own
};

/// Clusters rows x (n × d): rows go to the closest centre (the first of equally close ones), centres to the mean of
/// their rows, until no row moves. A cluster that loses its last row gets the row that is farthest from its own centre.
///
/// S. Lloyd, Least squares quantization in PCM, IEEE Trans. Information Theory 28, 1982. Starts are drawn by k-means++:
/// each further centre is a row, with a probability in proportion to its squared distance from the closest one so far;
/// D. Arthur, S. Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007.
///
/// The same rng gives the same result. O(n · clusters · d) an iteration, by blocks of rows; holds one copy of x.
/// Throws InputError for clusters < 1, n < clusters, entries that are not finite, options out of their range.
KMeansResult kmeans(ConstMatrixRef<double> x, Index clusters, const KMeansOptions& options, Rng rng);

}  // namespace tocca
