#include "tocca/ops/ranking.h"

#include <algorithm>

#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// Rows divided by their lengths; 1/length, and the row, is 0 where there is no direction.
struct Directions {
  MatrixMap<double> rows;                      // (m × k)
  Eigen::Map<Vector<double>> inverse_lengths;  // (m)
};

template <class S>
Directions directions_of(ConstMatrixRef<S> z, Workspace& work) {
  constexpr double kShortest = 1e-12;
  Directions u{work.matrix<double>(z.rows(), z.cols()), work.vector<double>(z.rows())};
  u.rows = z.template cast<double>();
  for (Index i = 0; i < z.rows(); ++i) {
    const double length = u.rows.row(i).stableNorm();
    u.inverse_lengths(i) = length < kShortest ? 0 : 1 / length;
    u.rows.row(i) *= u.inverse_lengths(i);
  }
  return u;
}

/// From the gradient with respect to the directions, du (m × k), to that with respect to the rows themselves, which is
/// added to d.
template <class S>
void add_through_directions(const Directions& u, MatrixRef<double> du, MatrixRef<S> d) {
  for (Index i = 0; i < du.rows(); ++i) {
    const double along = du.row(i).dot(u.rows.row(i));
    du.row(i) -= along * u.rows.row(i);
    d.row(i) += (u.inverse_lengths(i) * du.row(i)).template cast<S>();
  }
}

/// Sums the hinges over cosines (m × m), and replaces these by the gradient of the sum.
double sum_of_hinges(double margin, MatrixRef<double> cosines, Workspace& work) {
  const Workspace::Frame frame(work);
  Eigen::Map<Vector<double>> right = work.vector<double>(cosines.rows());
  right = cosines.diagonal();
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
                             MatrixRef<S> d2, Workspace& work) {
  const Index m = z1.rows(), k = z1.cols();
  if (m < 2) return 0;
  const auto pairs = static_cast<double>(2 * m * (m - 1));
  const Workspace::Frame frame(work);
  const Directions u1 = directions_of<S>(z1, work), u2 = directions_of<S>(z2, work);
  MatrixMap<double> cosines = work.matrix<double>(m, m), du = work.matrix<double>(m, k);
  multiply_a_bt<double>(u1.rows, u2.rows, cosines);
  const double sum = sum_of_hinges(margin, cosines, work);
  multiply<double>(cosines, u2.rows, du, weight / pairs);
  add_through_directions<S>(u1, du, d1);
  multiply_at_b<double>(cosines, u1.rows, du, weight / pairs);
  add_through_directions<S>(u2, du, d2);
  return sum / pairs;
}

template double pairwise_ranking_loss<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, double, double,
                                             MatrixRef<float>, MatrixRef<float>, Workspace&);
template double pairwise_ranking_loss<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, double, double,
                                              MatrixRef<double>, MatrixRef<double>, Workspace&);

}  // namespace tocca
