#include "tocca/evaluate/lda.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/covariance.h"
#include "tocca/linalg/labelled.h"
#include "tocca/linalg/principal.h"
#include "tocca/linalg/shrinkage.h"

namespace tocca {
namespace {

/// The labelled rows by class, C' classes with samples.
struct Classes {
  Matrix<double> within;  ///< (m × d) rows minus the mean of their class
  Matrix<double> means;   ///< (C' × d)
  Vector<double> shares;  ///< (C') π_c
};

Classes split_by_class(ConstMatrixRef<double> x, const detail::LabelledRows& labelled) {
  const auto m = static_cast<Index>(labelled.rows.size()), present = static_cast<Index>(labelled.present.size());
  Classes classes{Matrix<double>(m, x.cols()), Matrix<double>(present, x.cols()), Vector<double>(present)};
  std::vector<std::vector<Index>> members(labelled.present.size());
  const std::vector<Index> ordinals = labelled.ordinals();
  for (std::size_t i = 0; i < ordinals.size(); ++i)
    members[static_cast<std::size_t>(ordinals[i])].push_back(labelled.rows[i]);
  Index top = 0;
  for (Index c = 0; c < present; ++c) {
    const std::vector<Index>& rows = members[static_cast<std::size_t>(c)];
    const auto count = static_cast<Index>(rows.size());
    const Centred of_class = centre(x(rows, Eigen::all));
    classes.within.middleRows(top, count) = of_class.rows;
    classes.means.row(c) = of_class.mean;
    classes.shares(c) = static_cast<double>(count) / static_cast<double>(m);
    top += count;
  }
  return classes;
}

/// The shrunk covariance: its own variances along `axes` (r × d), and one outside of them.
struct ShrunkCovariance {
  Matrix<double> axes;
  Vector<double> variances;
  double outside;
};

ShrunkCovariance shrunk_covariance(const Matrix<double>& within, const LdaOptions& options) {
  detail::PrincipalAxes principal = detail::principal_axes(within, static_cast<double>(within.rows()));
  const double mean_variance = principal.variances.sum() / static_cast<double>(within.cols());
  const double intensity =
      options.shrinkage == LdaOptions::kLedoitWolf ? ledoit_wolf_of_centred(within).intensity : options.shrinkage;
  const Index rank = detail::count_above(principal.variances, options.rank_tolerance);
  return {principal.axes.topRows(rank),
          (1 - intensity) * principal.variances.head(rank).array() + intensity * mean_variance,
          intensity * mean_variance};
}

/// Rows · Σ⁻¹, pseudo-inverse where Σ has no variance. (C' × d)
Matrix<double> times_inverse(const Matrix<double>& rows, const ShrunkCovariance& covariance) {
  const Index rank = covariance.axes.rows();
  Matrix<double> along(rows.rows(), rank), result(rows.rows(), rows.cols());
  multiply_a_bt<double>(rows, covariance.axes, along);
  if (rank < rows.cols() && covariance.outside > 0) {
    result = rows / covariance.outside;
    multiply<double>(along, covariance.axes, result, -1 / covariance.outside, 1);
  } else {
    result.setZero();
  }
  along *= covariance.variances.cwiseInverse().asDiagonal();
  multiply<double>(along, covariance.axes, result, 1, 1);
  return result;
}

void require_variance(const Matrix<double>& within) {
  if (within.squaredNorm() > 0) return;
  throw InputError("lda", "variance within classes: got 0, need more; add samples, or a column that varies in a class");
}

}  // namespace

void LdaOptions::validate() const {
  if (shrinkage != kLedoitWolf && !(shrinkage >= 0 && shrinkage <= 1))
    throw InputError("lda", fmt::format("shrinkage: got {}, need 0 to 1, or -1 for Ledoit-Wolf; use -1", shrinkage));
  if (!(rank_tolerance >= 0 && rank_tolerance < 1))
    throw InputError("lda",
                     fmt::format("rank_tolerance: got {}, need 0 <= rank_tolerance < 1; use 1e-10", rank_tolerance));
}

LinearClassifier fit_lda(ConstMatrixRef<double> x, std::span<const int> y, int class_count, const LdaOptions& options) {
  options.validate();
  detail::require_labels("lda", x.rows(), y, class_count);
  const detail::LabelledRows labelled = detail::labelled_rows(y);
  for (const Index i : labelled.rows) detail::require_finite("lda", "x", x.row(i), i);
  detail::require_two_classes("lda", labelled);
  const Classes classes = split_by_class(x, labelled);
  require_variance(classes.within);
  // Scores measured from the mean of all rows differ by the same number in all classes, and lose fewer digits.
  const RowVector<double> centre_of_all = classes.shares.transpose() * classes.means;
  const Matrix<double> weights =
      times_inverse(classes.means.rowwise() - centre_of_all, shrunk_covariance(classes.within, options));
  LinearClassifier result{Matrix<double>::Zero(x.cols(), class_count),
                          RowVector<double>::Constant(class_count, LinearClassifier::kNeverPredicted), 0,
                          Link::softmax};
  for (std::size_t c = 0; c < labelled.present.size(); ++c) {
    const auto row = static_cast<Index>(c);
    result.weights.col(labelled.present[c]) = weights.row(row).transpose();
    // −½ (μ_c − μ)ᵀ Σ⁻¹ (μ_c − μ) and the origin's −μᵀ Σ⁻¹ (μ_c − μ)
    result.bias(labelled.present[c]) =
        std::log(classes.shares(row)) - 0.5 * weights.row(row).dot(classes.means.row(row) + centre_of_all);
  }
  return result;
}

}  // namespace tocca
