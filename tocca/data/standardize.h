/// Standardisation of a view: part of the model, fitted on training rows only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/matrix.h"
#include "tocca/data/column_moments.h"
#include "tocca/data/views.h"

namespace tocca {

/// zscore: centre each column and divide it by its standard deviation. scale: centre each column, then divide the
/// whole view by one number, the root of the mean variance of its columns; this keeps the relative size of columns, and
/// with it columns that are almost always zero stay small. center: subtract the mean. none: leave as is. Variances
/// divide by n − 1. Columns that are constant in training become 0 in every mode.
enum class Standardize { zscore, scale, center, none };
/// What to do with single missing values (NaN): refuse, put the training mean of the column, or drop the sample.
enum class MissingValues { error, mean, drop };

Standardize parse_standardize(std::string_view text);
std::string_view name_of(Standardize mode);
MissingValues parse_missing_values(std::string_view text);
std::string_view name_of(MissingValues policy);

/// x ↦ (x − shift) · scale per column; a missing value, when the policy allows it, becomes what the training mean of
/// its column becomes: 0, or the mean itself in mode none.
struct Standardizer {
  Standardize mode = Standardize::zscore;
  MissingValues missing = MissingValues::error;
  RowVector<double> mean;   ///< (d) training mean of each column (what a missing value stands for); 0 if all are NaN
  RowVector<double> shift;  ///< (d) mean, or 0 in mode none
  RowVector<double> scale;  ///< (d) 0 for a column that is constant in training
  std::vector<Index> constant;  ///< columns whose deviation is at most 1e-12 of their |mean|; they become exactly 0

  /// Columns `first` to `first` + out.cols() of standardised rows of those samples (each must have the view), as
  /// (samples.size() × at most d).
  /// Throws InputError naming view, sample and column of the first value that is not finite, unless `missing` is
  /// `mean` and it is a NaN. Infinities are never accepted, nor what is too large for S. Also thrown: the view has
  /// another number of columns than in training or fewer than are asked for, a sample lacks the view.
  template <class S>
  void read(const Views& views, Index view, std::span<const Index> samples, Index first, MatrixRef<S> out) const;
};

/// Fits on the samples of `views` that have the view. Means and variances in float64, merged over fixed chunks.
/// Throws InputError: no sample has the view; a value is infinite; a value is NaN and the policy is not `mean` (under
/// `drop`, pass views.select(complete_samples(views, missing))).
Standardizer fit_standardizer(const Views& views, Index view, Standardize mode, MissingValues missing,
                              const Context& context);

/// The same from moments that have been gathered elsewhere, of values that are all finite.
Standardizer standardizer_of(const ColumnMoments& moments, Standardize mode, MissingValues missing);

/// With the policy `drop`: the samples without a NaN in any view they have (n′ ≤ n), in order. Otherwise all.
std::vector<Index> complete_samples(const Views& views, MissingValues missing);

}  // namespace tocca
