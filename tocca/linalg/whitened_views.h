/// Views in the coordinates of their own row spaces, where the methods of several views become plain eigenproblems.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca::detail {

/// One view X (n × d) centred, with Σ = XᵀX / (n − 1) + r I, in the r_v directions in which it varies.
struct WhitenedView {
  Matrix<double> map;   ///< (r_v × d) M with M Σ Mᵀ = I, on those directions, in rows
  Matrix<double> rows;  ///< (n × r_v) X mapᵀ / √(n − 1); without a ridge its columns are orthonormal
};

/// Variances (with the ridge) not above tolerance · (the largest) are null directions and are dropped; without a ridge
/// those of columns scaled to variance 1, so that their units do not matter. r_v is at most min(n − 1, d), and nothing
/// larger than the view is formed.
WhitenedView whiten_view(ConstMatrixRef<double> x, double ridge, double tolerance);

/// In [w₁, ..., w_V] = directions (R × k), R = Σ r_v, taken apart by view and brought back to columns of the data:
/// (d_v × k) each. The largest-magnitude entry of each column of the first is positive, the others flip with it.
std::vector<Matrix<double>> weights_of_directions(const std::vector<WhitenedView>& views,
                                                  ConstMatrixRef<double> directions);

/// Throws InputError unless there are at least `least` views, of equally many rows (at least 2), with columns, and
/// finite.
void require_views(std::string_view where, std::span<const Matrix<double>> views, std::size_t least);

}  // namespace tocca::detail
