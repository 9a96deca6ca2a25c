/// Labelled points for tests of classifiers.
#pragma once

#include <vector>

#include "tocca/core/rng.h"
#include "tocca/testing/matchers.h"

namespace tocca::testing {

struct Clouds {
  Matrix<double> x;    ///< (n × d)
  std::vector<int> y;  ///< (n) classes in turn
};

/// Normal clouds of variance 1 around random centres, `distance` apart.
inline Clouds make_clouds(Index n, Index d, int class_count, double distance) {
  Rng rng(6);
  const Matrix<double> centres = distance * random_matrix(rng, class_count, d);
  Clouds clouds{random_matrix(rng, n, d), {}};
  for (Index i = 0; i < n; ++i) {
    clouds.y.push_back(static_cast<int>(i) % class_count);
    clouds.x.row(i) += centres.row(i % class_count);
  }
  return clouds;
}

}  // namespace tocca::testing
