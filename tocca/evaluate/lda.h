/// Linear discriminant analysis as a classifier, with a shrunk covariance.
///
/// R. A. Fisher, The use of multiple measurements in taxonomic problems, Ann. Eugenics 7, 1936.
/// O. Ledoit, M. Wolf, J. Multivar. Anal. 88, 2004 (shrinkage.h).
#pragma once

#include <span>

#include "tocca/core/matrix.h"
#include "tocca/model/linear_classifier.h"

namespace tocca {

struct LdaOptions {
  static constexpr double kLedoitWolf = -1;
  /// ρ of Σ = (1 − ρ) S + ρ λ I, 0 to 1, or kLedoitWolf: the intensity that `ledoit_wolf_of_centred` estimates from all
  /// rows, centred by class. (scikit-learn's "auto" estimates one intensity for each class, of standardised columns.)
  double shrinkage = kLedoitWolf;
  /// Variances not above tolerance · (the largest) count as 0. In [0, 1).
  double rank_tolerance = 1e-10;

  /// Throws InputError naming the field, its value and the constraint.
  void validate() const;
};

/// Normal classes with means μ_c, shares π_c of the samples, and one covariance Σ: with S the covariance within classes
/// (divided by the number of samples) and λ = tr(S) / d, a score is
///     log π_c + μ_cᵀ Σ⁻¹ x − ½ μ_cᵀ Σ⁻¹ μ_c,
/// the log posterior up to a number that is the same for all classes. Fitted on rows with y ≥ 0. Classes without
/// samples are never predicted: their bias is the lowest number. x (n × d), y (n) in −1 ... class_count − 1.
///
/// Works on the principal axes within classes: no d × d matrix when d ≥ n. Without shrinkage, directions of no variance
/// within classes are left out (the pseudo-inverse of Σ), which discards what separates the classes there: keep some
/// shrinkage where n ≤ d. `cost` of the result is 0.
///
/// Throws InputError for fewer than two classes with samples, classes without any variance within (one sample each, for
/// instance), sizes that differ, a class out of range, and entries of labelled rows that are not finite.
///
/// Example:
///     LinearClassifier lda = fit_lda(z_train, y, 10);
///     double score = accuracy(lda.predict(z_test), y_test);
LinearClassifier fit_lda(ConstMatrixRef<double> x, std::span<const int> y, int class_count,
                         const LdaOptions& options = {});

}  // namespace tocca
