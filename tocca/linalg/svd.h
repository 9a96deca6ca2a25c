/// The singular value decomposition, in float64.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"

namespace tocca {

/// X = left · diag(values) · right_t, with r = min(n, d) components, zero singular values included.
struct ThinSvd {
  Matrix<double> left;     ///< (n × r), orthonormal columns
  Vector<double> values;   ///< (r) descending, ≥ 0
  Matrix<double> right_t;  ///< (r × d), orthonormal rows
};

/// Divide and conquer after a QR factorisation where one side is much longer: about 6 max(n, d) min(n, d)² operations,
/// and no max × max matrix. Throws Error if `x` is not finite or LAPACK does not converge.
ThinSvd thin_svd(ConstMatrixRef<double> x);
/// The same into `svd`; allocates nothing when it and the workspace have been used for that shape before.
void thin_svd(ConstMatrixRef<double> x, ThinSvd& svd, Workspace& work);

/// The left side of that decomposition alone, for wide matrices: X = left · diag(values) · (what is not formed).
struct LeftSvd {
  Matrix<double> left;    ///< (n × r), orthonormal columns
  Vector<double> values;  ///< (r) descending, ≥ 0
};

/// As `thin_svd`, at a third of the work where d is much more than n: of the QR factorisation of Xᵀ, gathered over
/// blocks of columns so that it stays in the cache, only the triangle is kept. No Gram matrix, so nothing is squared
/// and small singular values are as exact. Throws as `thin_svd`.
LeftSvd left_svd(ConstMatrixRef<double> x);

/// The gradients of a loss with respect to the parts of a decomposition, in shapes as there.
struct SvdGradient {
  const Eigen::Ref<const Matrix<double>> left;
  const Eigen::Ref<const Vector<double>> values;
  const Eigen::Ref<const Matrix<double>> right_t;
};

/// Given the gradients of a loss with respect to U = left, values and Vᵀ = right_t, returns ∂L/∂X (n × d)
/// = U (diag(∂L/∂values) + M) Vᵀ + (I − U Uᵀ) ∂L/∂U D⁻¹ Vᵀ + U D⁻¹ ∂L/∂Vᵀ (I − V Vᵀ), where with P = Uᵀ ∂L/∂U −
/// its transpose, Q = Vᵀ ∂L/∂V − its transpose, and F_ij = 1/(σⱼ² − σᵢ²),
///     M_ij = F_ij (P_ij σⱼ + σᵢ Q_ij) = ½ (P + Q)_ij / (σⱼ − σᵢ) + ½ (P − Q)_ij / (σⱼ + σᵢ).
///
/// J. Townsend, Differentiating the singular value decomposition, 2016.
///
/// The second form of M separates what a tie makes singular: P + Q is the derivative of the loss along a common
/// rotation of two components. A quotient 1/g is taken as g/(g² + ε²), ε = 1e-8 of the largest singular value, which is
/// 0 for g = 0 and never above 1/(2ε). So the result is always finite, and right to a relative (ε/g)² for distinct
/// singular values; with tied ones it is right for every loss of U and V, not of the values, that a common rotation of
/// the tied components leaves as it is (with zero ones: a rotation of either side).
/// Throws InputError for shapes that do not agree.
Matrix<double> thin_svd_adjoint(const ThinSvd& svd, const SvdGradient& gradient);
/// The same into `x` (n × d).
void thin_svd_adjoint(const ThinSvd& svd, const SvdGradient& gradient, MatrixRef<double> x, Workspace& work);

/// P = U Vᵀ of X = U D Vᵀ, square (d × d): the orthogonal matrix nearest to X. Where D > 0 it is the only one, and
/// continuous in X, whether or not singular values are equal; directions of zero singular values are turned anyhow.
/// Throws InputError if X is not square.
Matrix<double> polar_factor(const ThinSvd& svd);
void polar_factor(const ThinSvd& svd, MatrixRef<double> p);
/// Given the gradient of a loss with respect to P (d × d), returns ∂L/∂X = U M Vᵀ with G = Uᵀ ∂L/∂P V and M_ij =
/// (G_ij − G_ji) / (σᵢ + σⱼ), quotients guarded as in `thin_svd_adjoint`.
/// Throws InputError for shapes that do not agree.
Matrix<double> polar_factor_adjoint(const ThinSvd& svd, ConstMatrixRef<double> gradient);
/// The same into `x` (d × d).
void polar_factor_adjoint(const ThinSvd& svd, ConstMatrixRef<double> gradient, MatrixRef<double> x, Workspace& work);

}  // namespace tocca
