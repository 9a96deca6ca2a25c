/// Eigenvectors of small symmetric matrices, such as the covariance of a whitening layer's components, at each step.
#pragma once

#include <cstddef>

namespace tocca::detail {

/// Up to this size it was measured to be faster than LAPACK's dsyevd, or level with it (docs/performance.md).
inline constexpr std::size_t kSmallEigen = 112;

/// S = V diag(values) Vᵀ for a symmetric matrix in float64, by Householder reflections to tridiagonal form and the QL
/// iteration with Wilkinson's shift (Golub and Van Loan, Matrix Computations, sections 8.3.1 and 8.3.3), whose angles
/// come from determinants of the matrix's last rows.
///
/// matrix: n × n, of which the lower triangle is read; finite. It becomes the eigenvectors, in columns. values: (n),
/// ascending. scratch: small_eigen_scratch(n) numbers. n up to kSmallEigen. Returns whether the iteration converged.
bool small_symmetric_eigen(std::size_t n, double* matrix, double* values, double* scratch);

/// The distance of rows in the scratch. An odd number of cache lines keeps them apart in the first-level cache.
constexpr std::size_t small_eigen_stride(std::size_t n) { return ((n + 7) / 8 | 1) * 8; }
/// Two matrices and five rows.
constexpr std::size_t small_eigen_scratch(std::size_t n) { return (2 * n + 5) * small_eigen_stride(n) + 8; }

}  // namespace tocca::detail
