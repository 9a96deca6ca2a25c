/// Means and covariances of two views' columns side by side, from one pass over their rows.
#pragma once

#include <optional>
#include <span>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/data/views.h"
#include "tocca/linalg/cca.h"
#include "tocca/model/fitted_model.h"

namespace tocca {

/// Of [x₁, x₂], D = d₁ + d₂ columns.
struct JointMoments {
  Index count = 0;            ///< samples
  RowVector<double> mean;     ///< (D)
  Matrix<double> covariance;  ///< (D × D), divided by count − 1
};

/// Of the columns as they are, where one pass tells all that preprocessing and CCA need: nothing otherwise, that is
/// unless there are two views, every sample has both, there are more samples than columns, and all values (and their
/// squares) are finite. Pages of large mapped files are given back on the way.
std::optional<JointMoments> joint_moments(const Views& views, const Context& context);

/// The moments of a view's columns among them, for `standardizer_of`.
ColumnMoments column_moments_of(const JointMoments& joint, Index first, Index columns);

/// What they become when each view is standardised as the model says.
JointMoments standardize_moments(JointMoments joint, const FittedModel& model);

/// Of the standardised columns of those samples, at least two, which must have both views. Throws InputError as
/// `Standardizer::read`.
JointMoments standardized_moments(const FittedModel& model, const Views& views, std::span<const Index> samples,
                                  const Context& context);

/// The linear CCA of both views' projections onto a solution's weights: what `cca` makes of the projections themselves.
CanonicalPair canonical_pair_of(const JointMoments& standardized, const CcaSolution& solution);

}  // namespace tocca
