/// How well scores put what holds before what does not. For one property of n samples: scores (n), the higher the more
/// likely; flags (n): 1 it holds, 0 it does not, −1 missing, and the sample left out. Only the order of the scores
/// matters. For t properties side by side: scores (n × t), targets (n × t): 1, 0, or NaN where missing.
///
/// Sizes that differ, other flags, and a score of NaN of a sample that counts throw InputError. O(t n log n).
#pragma once

#include <span>

#include "tocca/core/matrix.h"

namespace tocca {

/// The area under the receiver operating characteristic: the share of the pairs of a sample that has the property and
/// one that has not in which the former has the higher score; equal scores count ½. 1 is perfect, ½ chance. NaN unless
/// there are both kinds.
///
/// J. Hanley, B. McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve,
/// Radiology 143, 1982.
double area_under_roc(std::span<const double> scores, std::span<const int> flags);

/// The area under the precision-recall curve as a sum of steps: Σ over the distinct scores, from the highest, of
/// (recall with all samples from that score on − recall before) · precision with them. In (0, 1]; chance is the share
/// of samples that have the property. NaN if none has it; 1 if all have it.
///
/// M. Zhu, Recall, precision and average precision, University of Waterloo, 2004. Without interpolation, as
/// scikit-learn does it; samples of equal score come in together, so that their order does not matter.
double average_precision(std::span<const double> scores, std::span<const int> flags);

/// Unweighted means over the properties for which the figure is not NaN; NaN if there are none.
double macro_area_under_roc(ConstMatrixRef<double> scores, ConstMatrixRef<double> targets);
double macro_average_precision(ConstMatrixRef<double> scores, ConstMatrixRef<double> targets);

}  // namespace tocca
