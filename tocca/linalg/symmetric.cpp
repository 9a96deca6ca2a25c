#include "tocca/linalg/symmetric.h"

#include <fmt/format.h>
#include <lapacke.h>

#include <cmath>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/small_eigen.h"

namespace tocca {
namespace {

void require_square_and_finite(ConstMatrixRef<double> s) {
  if (s.rows() != s.cols())
    throw InputError("symmetric_eigen",
                     fmt::format("shape: got {} x {}, need a square matrix; pass a covariance", s.rows(), s.cols()));
  double nothing = 0;  // 0 times a number, unless that is infinite or NaN
  for (Index i = 0; i < s.rows(); ++i) nothing += (0 * s.row(i).head(i + 1)).sum();
  if (nothing == 0) return;
  for (Index i = 0; i < s.rows(); ++i)
    for (Index j = 0; j <= i; ++j)
      if (!std::isfinite(s(i, j)))
        throw Error("symmetric_eigen", fmt::format("entry ({}, {}): got {}, need a finite number; check the data, or "
                                                   "lower the learning rate",
                                                   i, j, s(i, j)));
}

// The workspace of dsyevd has 1 + 6 d + 2 d² numbers, counted in LAPACK's 32 bits.
void require_countable(Index d) {
  constexpr Index kMost = 32'000;
  if (d <= kMost) return;
  throw InputError("symmetric_eigen", fmt::format("columns: got {}, need at most {}; take fewer columns", d, kMost));
}

void require_positive(const Vector<double>& values) {
  if (values.size() > 0 && !(values.minCoeff() > 0))
    throw Error(
        "inverse_sqrt",
        fmt::format(
            "smallest eigenvalue: got {}, need more than 0; look for outliers, or add a ridge (whitening_epsilon)",
            values.minCoeff()));
}

void require_size(const char* where, const char* what, Index rows, Index columns, const SymmetricEigen& eigen,
                  const char* remedy) {
  const Index d = eigen.values.size();
  if (rows == d && columns == d) return;
  throw InputError(where, fmt::format("shape of {}: got {} x {}, need {} x {}; {}", what, rows, columns, d, d, remedy));
}

}  // namespace

void symmetric_eigen_in_place(SymmetricEigen& eigen, Workspace& work) {
  Matrix<double>& s = eigen.vectors;
  require_countable(s.rows());
  require_square_and_finite(s);
  const Index d = s.rows();
  eigen.values.resize(d);
  if (d == 0) return;
  const Workspace::Frame frame(work);
  if (d <= static_cast<Index>(detail::kSmallEigen)) {
    const auto n = static_cast<std::size_t>(d);
    double* const scratch = work.array<double>(detail::small_eigen_scratch(n)).data();
    if (!detail::small_symmetric_eigen(n, s.data(), eigen.values.data(), scratch))
      throw Error("symmetric_eigen", "QL iteration: got no convergence, need it; check the data");
    return;
  }
  detail::use_one_blas_thread();
  // What dsyevd asks for with vectors.
  const auto numbers = work.array<double>(static_cast<std::size_t>(1 + 6 * d + 2 * d * d));
  const auto integers = work.array<lapack_int>(static_cast<std::size_t>(3 + 5 * d));
  // Column-major LAPACK sees the transpose: our lower triangle is its upper one, and its columns come back as our rows.
  const auto n = static_cast<lapack_int>(d);
  const lapack_int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', n, s.data(), n, eigen.values.data(),
                                              numbers.data(), static_cast<lapack_int>(numbers.size()), integers.data(),
                                              static_cast<lapack_int>(integers.size()));
  if (info != 0)
    throw Error("symmetric_eigen", fmt::format("LAPACK dsyevd: got code {}, need 0 (converged); scale the data", info));
  s.transposeInPlace();
}

SymmetricEigen symmetric_eigen(ConstMatrixRef<double> s) {
  SymmetricEigen eigen;
  eigen.vectors = s;
  Workspace work;
  symmetric_eigen_in_place(eigen, work);
  return eigen;
}

void inverse_sqrt(const SymmetricEigen& eigen, MatrixRef<double> u, Workspace& work) {
  require_positive(eigen.values);
  const Index d = eigen.values.size();
  const Workspace::Frame frame(work);
  // As a Gram matrix of values^{-1/4} Vᵀ the result is symmetric to the last bit, at half the cost of a product.
  Eigen::Map<Vector<double>> factors = work.vector<double>(d);
  factors = eigen.values.cwiseSqrt().cwiseSqrt().cwiseInverse();
  MatrixMap<double> scaled = work.matrix<double>(d, d);
  scaled = factors.asDiagonal() * eigen.vectors.transpose();
  multiply_at_a<double>(scaled, u);
}

Matrix<double> inverse_sqrt(const SymmetricEigen& eigen) {
  Matrix<double> u(eigen.values.size(), eigen.values.size());
  Workspace work;
  inverse_sqrt(eigen, u, work);
  return u;
}

void inverse_sqrt_differences(const SymmetricEigen& eigen, MatrixRef<double> m, Workspace& work) {
  require_positive(eigen.values);
  require_size("inverse_sqrt_differences", "m", m.rows(), m.cols(), eigen, "resize it");
  const Workspace::Frame frame(work);
  Eigen::Map<Vector<double>> root = work.vector<double>(eigen.values.size());
  root = eigen.values.cwiseSqrt();
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j <= i; ++j)
      m(i, j) = m(j, i) = -0.5 * (m(i, j) + m(j, i)) / (root(i) * root(j) * (root(i) + root(j)));
}

void inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient, MatrixRef<double> adjoint,
                          Workspace& work) {
  require_positive(eigen.values);
  require_size("inverse_sqrt_adjoint", "the gradient", gradient.rows(), gradient.cols(), eigen, "pass dL/dU");
  require_size("inverse_sqrt_adjoint", "the adjoint", adjoint.rows(), adjoint.cols(), eigen, "resize it");
  const Index d = eigen.values.size();
  const Workspace::Frame frame(work);
  const Matrix<double>& v = eigen.vectors;
  MatrixMap<double> between = work.matrix<double>(d, d), inner = work.matrix<double>(d, d);
  multiply_at_b<double>(v, gradient, between);
  multiply<double>(between, v, inner);
  inverse_sqrt_differences(eigen, inner, work);
  multiply<double>(v, inner, between);
  multiply_a_bt<double>(between, v, inner);
  adjoint = 0.5 * (inner + inner.transpose());
}

Matrix<double> inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient) {
  Matrix<double> adjoint(eigen.values.size(), eigen.values.size());
  Workspace work;
  inverse_sqrt_adjoint(eigen, gradient, adjoint, work);
  return adjoint;
}

}  // namespace tocca
