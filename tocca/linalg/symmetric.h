/// Decompositions of symmetric matrices, in float64.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"

namespace tocca {

/// S = V diag(values) Vᵀ.
struct SymmetricEigen {
  Vector<double> values;   ///< (d) ascending
  Matrix<double> vectors;  ///< (d × d) in columns, orthonormal
};

/// Reads the lower triangle. Throws InputError if `s` is not square; Error if it is not finite or the iteration does
/// not converge, which in training are numerical outcomes and not the caller's mistake.
SymmetricEigen symmetric_eigen(ConstMatrixRef<double> s);
/// The same of the matrix that lies in eigen.vectors, which has no meaning after an exception. Allocates nothing when
/// both have been used for that size before.
void symmetric_eigen_in_place(SymmetricEigen& eigen, Workspace& work);

/// U = V diag(values^{-1/2}) Vᵀ, the symmetric (ZCA) inverse square root, exactly symmetric. Throws Error unless all
/// values are positive.
Matrix<double> inverse_sqrt(const SymmetricEigen& eigen);
void inverse_sqrt(const SymmetricEigen& eigen, MatrixRef<double> u, Workspace& work);

/// m ← K ∘ sym(m) for m (d × d) in the coordinates of the eigenvectors, with the divided differences of λ^{-1/2},
/// K_ij = −1 / (√λᵢ √λⱼ (√λᵢ + √λⱼ)): finite for equal eigenvalues. It becomes exactly symmetric. Throws Error unless
/// all values are positive, InputError for another shape.
void inverse_sqrt_differences(const SymmetricEigen& eigen, MatrixRef<double> m, Workspace& work);

/// Given G = ∂L/∂U for U = S^{-1/2}, returns ∂L/∂S = V (K ∘ sym(Vᵀ G V)) Vᵀ (d × d), symmetric, with K as above.
/// Throws as that does.
Matrix<double> inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient);
void inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient, MatrixRef<double> adjoint,
                          Workspace& work);

}  // namespace tocca
