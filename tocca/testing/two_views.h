/// Small synthetic data sets of several views, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/data/views.h"

namespace tocca::testing {

/// A complete dataset from matrices (n × d_v each) named "left", "right", "third", and class codes ("a", "b", ...).
inline Dataset make_dataset(std::vector<Matrix<double>> x, std::vector<int> codes, int classes) {
  const char* const names[] = {"left", "right", "third"};
  Dataset data;
  for (Index i = 0; i < x[0].rows(); ++i) data.views.samples.push_back("s" + std::to_string(i));
  for (std::size_t v = 0; v < x.size(); ++v) {
    View view;
    view.name = names[v];
    for (Index j = 0; j < x[v].cols(); ++j) view.features.push_back(view.name + std::to_string(j));
    for (Index i = 0; i < x[v].rows(); ++i) view.row_of_sample.push_back(i);
    view.values = Table(std::move(x[v]));
    data.views.views.push_back(std::move(view));
  }
  data.labels.codes = std::move(codes);
  for (int c = 0; c < classes; ++c) data.labels.classes.emplace_back(1, static_cast<char>('a' + c));
  return data;
}

/// Two views that share the class in a way no linear method sees: in each view the class is the parity of the signs of
/// two hidden coordinates, rotated and noisy.
inline Dataset make_xor(Index samples, std::uint64_t seed) {
  Rng rng(seed);
  Matrix<double> left(samples, 4);
  Matrix<double> right(samples, 5);
  std::vector<int> codes;
  for (Index i = 0; i < samples; ++i) {
    const int a = rng.below(2) == 0 ? -1 : 1;
    const int b = rng.below(2) == 0 ? -1 : 1;
    codes.push_back(a * b > 0 ? 1 : 0);
    const auto noise = [&] { return 0.25 * rng.normal(); };
    const int c = rng.below(2) == 0 ? -1 : 1;  // the right view has the same parity from other signs
    left.row(i) << a + noise(), b + noise(), noise() * 4, noise() * 4;
    right.row(i) << noise() * 4, c + noise(), noise() * 4, c * a * b + noise(), noise() * 4;
  }
  return make_dataset({left, right}, codes, 2);
}

/// Two views of one hidden variable of `shared` coordinates, the class being the sign pattern of its first two (4
/// classes).
inline Dataset make_shared(Index samples, Index shared, double noise, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [](Rng stream, Index rows, Index columns) {
    return Matrix<double>(Matrix<double>::NullaryExpr(rows, columns, [&] { return stream.normal(); }));
  };
  const Matrix<double> hidden = draw(rng.split("hidden"), samples, shared);
  std::vector<int> codes;
  for (Index i = 0; i < samples; ++i) codes.push_back((hidden(i, 0) > 0 ? 1 : 0) + (hidden(i, 1) > 0 ? 2 : 0));
  Rng maps(99);  // the same maps for every seed
  const Matrix<double> left = hidden * draw(maps.split("left"), shared, 8) + noise * draw(rng.split("l"), samples, 8);
  const Matrix<double> right = hidden * draw(maps.split("right"), shared, 6) + noise * draw(rng.split("r"), samples, 6);
  return make_dataset({left, right}, codes, 4);
}

}  // namespace tocca::testing
