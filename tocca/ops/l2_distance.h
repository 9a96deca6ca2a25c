/// The agreement of the task-optimal methods: the squared ℓ₂ distance between a sample's projections from two views.
#pragma once

#include <span>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// Where the samples of a batch stand in the matrices of each view: row_of[v][p] is the row of the batch's sample p in
/// view v, −1 where the sample lacks it. (V × m)
using BatchRows = std::vector<std::vector<Index>>;

/// Number of (pair of views, sample) combinations with both views present.
Index count_pairs(const BatchRows& row_of);

/// The distance is mean ‖z_u − z_v‖² over those combinations (with two complete views: over the batch), 0 if there
/// are none. This is view v's part: returns the sum over pairs (v, u) with u > v divided by `pairs` = count_pairs, so
/// that the parts of all views add up to the distance, and adds weight · the gradient with respect to z_v to d (m_v ×
/// k).
template <class S>
double l2_distance(std::span<const MatrixMap<S>> z, const BatchRows& row_of, std::size_t v, Index pairs, double weight,
                   MatrixRef<S> d);

}  // namespace tocca
