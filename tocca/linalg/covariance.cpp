#include "tocca/linalg/covariance.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/core/huge_pages.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

/// How much the count grows between two moves of the origin.
constexpr Index kGrowth = 8;

/// The mean, measured from the first row: exact in constant columns, and large offsets cost few digits.
RowVector<double> careful_mean(ConstMatrixRef<double> x) {
  const RowVector<double> shift = (x.rowwise() - x.row(0)).colwise().mean();
  return x.row(0) + shift;
}

/// lower(C) ← lower(Aᵀ A + C): half the work of both triangles, and what stands above is never touched.
void add_lower_products(ConstMatrixRef<double> a, Matrix<double>& c) {
  if (c.size() == 0) return;
  detail::use_one_blas_thread();
  const auto n = static_cast<int>(c.rows()), k = static_cast<int>(a.rows());
  const auto stride = static_cast<int>(std::max(a.outerStride(), a.cols()));
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, k, 1, a.data(), stride, 1, c.data(), n);
}

/// What Σ yᵀ y of n rows y changes by when they are measured from δ: row i of Σ (y − δ)ᵀ (y − δ) − Σ yᵀ y.
class Move {
 public:
  Move(Index count, const RowVector<double>& sum, const RowVector<double>& delta)
      : sum_(sum), delta_(delta), other_(static_cast<double>(count) * delta - sum) {}
  /// The first i + 1 numbers of the row.
  [[nodiscard]] auto lower(Index i) const { return delta_(i) * other_.head(i + 1) - sum_(i) * delta_.head(i + 1); }

 private:
  const RowVector<double>&sum_, &delta_;
  RowVector<double> other_;
};

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

RowVector<double> inverse_deviations(const RowVector<double>& variances) {
  return (variances.array() > 0).select(variances.array().sqrt().inverse(), 1.0);
}

CovarianceAccumulator::CovarianceAccumulator(Index columns) {
  if (columns < 0)
    throw InputError("covariance", fmt::format("columns: got {}, need 0 or more; pass the number of columns", columns));
  origin_ = sum_ = RowVector<double>::Zero(columns);
  products_.resize(columns, columns);
  advise_huge_pages(products_.data(), static_cast<std::size_t>(products_.size()) * sizeof(double));
  products_.setZero();
}

void CovarianceAccumulator::require_columns(Index columns) const {
  if (columns != origin_.size())
    throw InputError("covariance", fmt::format("columns of the rows: got {}, need {}; put all views side by side",
                                               columns, origin_.size()));
}

void CovarianceAccumulator::add(ConstMatrixRef<double> rows) {
  require_columns(rows.cols());
  Matrix<double> block;
  for (Index top = 0; top < rows.rows(); top += block_rows()) {
    block = rows.middleRows(top, std::min(block_rows(), rows.rows() - top));
    add_block(block);
  }
}

void CovarianceAccumulator::add_in_place(MatrixRef<double> rows) {
  require_columns(rows.cols());
  for (Index top = 0; top < rows.rows(); top += block_rows())
    add_block(rows.middleRows(top, std::min(block_rows(), rows.rows() - top)));
}

void CovarianceAccumulator::add_block(MatrixRef<double> rows) {
  if (count_ == 0) {
    origin_ = careful_mean(rows);
    next_move_ = kGrowth * rows.rows();
  }
  for (Index i = 0; i < rows.rows(); ++i) {
    rows.row(i) -= origin_;
    sum_ += rows.row(i);
  }
  add_lower_products(rows, products_);
  count_ += rows.rows();
  if (count_ < next_move_) return;
  move_origin(mean());
  next_move_ = kGrowth * count_;
}

void CovarianceAccumulator::move_origin(const RowVector<double>& origin) {
  const RowVector<double> delta = origin - origin_;
  const Move move(count_, sum_, delta);
  for (Index i = 0; i < products_.rows(); ++i) products_.row(i).head(i + 1) += move.lower(i);
  sum_ -= static_cast<double>(count_) * delta;
  origin_ = origin;
}

void CovarianceAccumulator::merge(const CovarianceAccumulator& other) {
  if (other.origin_.size() != origin_.size())
    throw InputError("covariance", fmt::format("columns of the other accumulator: got {}, need {}; gather the same "
                                               "views in both",
                                               other.origin_.size(), origin_.size()));
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  // From the mean of all, either side's products only grow: nothing is lost to cancellation.
  const auto n = static_cast<double>(other.count_), all = n + static_cast<double>(count_);
  const RowVector<double> centre = mean() + n / all * (other.mean() - mean());
  const RowVector<double> delta = centre - origin_, its_delta = centre - other.origin_;
  const Move move(count_, sum_, delta), its_move(other.count_, other.sum_, its_delta);
  for (Index i = 0; i < products_.rows(); ++i)
    products_.row(i).head(i + 1) += other.products_.row(i).head(i + 1) + move.lower(i) + its_move.lower(i);
  const RowVector<double> its_sum = other.sum_ - n * its_delta;
  sum_ += its_sum - static_cast<double>(count_) * delta;
  origin_ = centre;
  count_ += other.count_;
  next_move_ = kGrowth * count_;
}

RowVector<double> CovarianceAccumulator::mean() const {
  return origin_ + sum_ / std::max(1.0, static_cast<double>(count_));
}

Matrix<double> CovarianceAccumulator::covariance() const {
  if (count_ < 2)
    throw InputError("covariance", fmt::format("number of rows: got {}, need at least 2; add more rows", count_));
  const RowVector<double> shift = sum_ / static_cast<double>(count_);
  Matrix<double> s(products_.rows(), products_.cols());
  for (Index i = 0; i < s.rows(); ++i) {
    s.row(i).head(i + 1) =
        (products_.row(i).head(i + 1) - sum_(i) * shift.head(i + 1)) / static_cast<double>(count_ - 1);
    s(i, i) = std::max(s(i, i), 0.0);  // rounding can leave a little less than nothing; a NaN stays
    s.col(i).head(i) = s.row(i).head(i).transpose();
  }
  return s;
}

}  // namespace tocca
