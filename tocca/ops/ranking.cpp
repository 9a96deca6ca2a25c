#include "tocca/ops/ranking.h"

#include <algorithm>
#include <utility>

#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// Rows divided by their lengths; 1/length, and the row, is 0 where there is no direction.
struct Directions {
  Matrix<double> rows;             // (m × k)
  Vector<double> inverse_lengths;  // (m)
};

Directions directions_of(Matrix<double> z) {
  constexpr double kShortest = 1e-12;
  const Vector<double> inverse =
      z.rowwise().stableNorm().unaryExpr([](double length) { return length < kShortest ? 0 : 1 / length; });
  z = inverse.asDiagonal() * z;
  return {std::move(z), inverse};
}

/// From the gradient with respect to the directions (m × k) to that with respect to the rows themselves.
Matrix<double> through_directions(const Directions& z, Matrix<double> d) {
  const Vector<double> along = d.cwiseProduct(z.rows).rowwise().sum();
  d -= along.asDiagonal() * z.rows;
  return z.inverse_lengths.asDiagonal() * d;
}

/// Sums the hinges over cosines (m × m), and replaces these by the gradient of the sum.
double sum_of_hinges(double margin, Matrix<double>& cosines) {
  const Vector<double> right = cosines.diagonal();
  double sum = 0;
  cosines.diagonal().setZero();
  for (Index i = 0; i < cosines.rows(); ++i) {
    for (Index j = 0; j < cosines.cols(); ++j) {
      if (i == j) continue;
      const double first = margin - right(i) + cosines(i, j), second = margin - right(j) + cosines(i, j);
      sum += std::max(first, 0.0) + std::max(second, 0.0);
      cosines(i, j) = (first > 0 ? 1 : 0) + (second > 0 ? 1 : 0);
      cosines(i, i) -= first > 0 ? 1 : 0;
      cosines(j, j) -= second > 0 ? 1 : 0;
    }
  }
  return sum;
}

}  // namespace

template <class S>
double pairwise_ranking_loss(ConstMatrixRef<S> z1, ConstMatrixRef<S> z2, double margin, double weight, MatrixRef<S> d1,
                             MatrixRef<S> d2) {
  const Index m = z1.rows();
  if (m < 2) return 0;
  const auto pairs = static_cast<double>(2 * m * (m - 1));
  const Directions u1 = directions_of(z1.template cast<double>()), u2 = directions_of(z2.template cast<double>());
  Matrix<double> cosines(m, m), du1(m, z1.cols()), du2(m, z1.cols());
  multiply_a_bt<double>(u1.rows, u2.rows, cosines);
  const double sum = sum_of_hinges(margin, cosines);
  multiply<double>(cosines, u2.rows, du1, weight / pairs);
  multiply_at_b<double>(cosines, u1.rows, du2, weight / pairs);
  d1 += through_directions(u1, std::move(du1)).template cast<S>();
  d2 += through_directions(u2, std::move(du2)).template cast<S>();
  return sum / pairs;
}

template double pairwise_ranking_loss<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, double, double,
                                             MatrixRef<float>, MatrixRef<float>);
template double pairwise_ranking_loss<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, double, double,
                                              MatrixRef<double>, MatrixRef<double>);

}  // namespace tocca
