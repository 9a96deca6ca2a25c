#include "tocca/linalg/covariance.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// Rows centred at a time: bounds the copy, whatever is added.
constexpr Index kBlockRows = 1024;

}  // namespace

Centred centre(ConstMatrixRef<double> x) {
  Centred result{Matrix<double>::Zero(x.rows(), x.cols()), RowVector<double>::Zero(x.cols())};
  if (x.rows() == 0) return result;
  // Measured from the first row, constant columns are zeros without rounding, and large offsets cost few digits.
  result.rows = x.rowwise() - x.row(0);
  const RowVector<double> shift = result.rows.colwise().mean();
  result.rows.rowwise() -= shift;
  result.mean = x.row(0) + shift;
  return result;
}

CovarianceAccumulator::CovarianceAccumulator(Index columns) {
  if (columns < 0)
    throw InputError("covariance", fmt::format("columns: got {}, need 0 or more; pass the number of columns", columns));
  mean_ = RowVector<double>::Zero(columns);
  scatter_ = Matrix<double>::Zero(columns, columns);
}

void CovarianceAccumulator::add(ConstMatrixRef<double> rows) {
  if (rows.cols() != mean_.size())
    throw InputError("covariance", fmt::format("columns of the rows: got {}, need {}; put all views side by side",
                                               rows.cols(), mean_.size()));
  for (Index top = 0; top < rows.rows(); top += kBlockRows)
    add_block(rows.middleRows(top, std::min(kBlockRows, rows.rows() - top)));
}

void CovarianceAccumulator::add_block(ConstMatrixRef<double> rows) {
  const Centred block = centre(rows);
  multiply_at_a<double>(block.rows, scatter_, 1, 1);
  move_mean(rows.rows(), block.mean);
}

void CovarianceAccumulator::merge(const CovarianceAccumulator& other) {
  if (other.mean_.size() != mean_.size())
    throw InputError("covariance", fmt::format("columns of the other accumulator: got {}, need {}; gather the same "
                                               "views in both",
                                               other.mean_.size(), mean_.size()));
  if (other.count_ == 0) return;
  scatter_ += other.scatter_;
  move_mean(other.count_, other.mean_);
}

void CovarianceAccumulator::move_mean(Index count, const RowVector<double>& mean) {
  const double before = static_cast<double>(count_), added = static_cast<double>(count);
  const double share = added / (before + added);
  const RowVector<double> difference = mean - mean_;
  count_ += count;
  // The first rows bring their mean as it is, so that it does not pass through a rounding.
  if (before == 0) {
    mean_ = mean;
    return;
  }
  multiply_at_a<double>(difference, scatter_, before * share, 1);
  mean_ += share * difference;
}

Matrix<double> CovarianceAccumulator::covariance() const {
  if (count_ < 2)
    throw InputError("covariance", fmt::format("number of rows: got {}, need at least 2; add more rows", count_));
  return scatter_ / static_cast<double>(count_ - 1);
}

}  // namespace tocca
