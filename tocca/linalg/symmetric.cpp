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
  double nothing = 0;  // 0 times a number, unless that is infinite or none
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
        fmt::format("smallest eigenvalue: got {}, need more than 0; add a ridge to the diagonal", values.minCoeff()));
}

}  // namespace

void symmetric_eigen(ConstMatrixRef<double> s, SymmetricEigen& eigen, SymmetricScratch& scratch) {
  require_countable(s.rows());
  require_square_and_finite(s);
  detail::use_one_blas_thread();
  const Index d = s.rows();
  eigen.values.resize(d);
  eigen.vectors = s;
  if (d == 0) return;
  if (d <= static_cast<Index>(detail::kSmallEigen)) {
    const auto n = static_cast<std::size_t>(d);
    scratch.numbers.resize(static_cast<Index>(detail::small_eigen_scratch(n)));
    if (!detail::small_symmetric_eigen(n, eigen.vectors.data(), eigen.values.data(), scratch.numbers.data()))
      throw Error("symmetric_eigen", "QL iteration: got no convergence, need it; check the data");
    return;
  }
  // What dsyevd asks for with vectors.
  scratch.numbers.resize(1 + 6 * d + 2 * d * d);
  scratch.integers.resize(static_cast<std::size_t>(3 + 5 * d));
  // Column-major LAPACK sees the transpose: our lower triangle is its upper one, and its columns come back as our rows.
  const auto n = static_cast<lapack_int>(d);
  const lapack_int info =
      LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', n, eigen.vectors.data(), n, eigen.values.data(),
                          scratch.numbers.data(), static_cast<lapack_int>(scratch.numbers.size()),
                          scratch.integers.data(), static_cast<lapack_int>(scratch.integers.size()));
  if (info != 0)
    throw Error("symmetric_eigen", fmt::format("LAPACK dsyevd: got code {}, need 0 (converged); scale the data", info));
  eigen.vectors.transposeInPlace();
}

SymmetricEigen symmetric_eigen(ConstMatrixRef<double> s) {
  SymmetricEigen eigen;
  SymmetricScratch scratch;
  symmetric_eigen(s, eigen, scratch);
  return eigen;
}

void inverse_sqrt(const SymmetricEigen& eigen, Matrix<double>& u, SymmetricScratch& scratch) {
  require_positive(eigen.values);
  const Index d = eigen.values.size();
  // As a Gram matrix of values^{-1/4} Vᵀ the result is symmetric to the last bit, at half the cost of a product.
  scratch.roots = eigen.values.array().pow(-0.25);
  scratch.first.noalias() = scratch.roots.asDiagonal() * eigen.vectors.transpose();
  u.resize(d, d);
  multiply_at_a<double>(scratch.first, u);
}

Matrix<double> inverse_sqrt(const SymmetricEigen& eigen) {
  Matrix<double> u;
  SymmetricScratch scratch;
  inverse_sqrt(eigen, u, scratch);
  return u;
}

void inverse_sqrt_differences(const SymmetricEigen& eigen, Matrix<double>& m, SymmetricScratch& scratch) {
  require_positive(eigen.values);
  scratch.roots = eigen.values.cwiseSqrt();
  const Vector<double>& root = scratch.roots;
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j <= i; ++j)
      m(i, j) = m(j, i) = -0.5 * (m(i, j) + m(j, i)) / (root(i) * root(j) * (root(i) + root(j)));
}

void inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient, Matrix<double>& adjoint,
                          SymmetricScratch& scratch) {
  require_positive(eigen.values);
  const Index d = eigen.values.size();
  if (gradient.rows() != d || gradient.cols() != d)
    throw InputError("inverse_sqrt_adjoint", fmt::format("shape of the gradient: got {} x {}, need {} x {}; pass dL/dU",
                                                         gradient.rows(), gradient.cols(), d, d));
  const Matrix<double>& v = eigen.vectors;
  Matrix<double>& inner = adjoint;
  Matrix<double>& between = scratch.first;
  inner.resize(d, d);
  between.resize(d, d);
  multiply_at_b<double>(v, gradient, between);
  multiply<double>(between, v, inner);
  inverse_sqrt_differences(eigen, inner, scratch);
  multiply<double>(v, inner, between);
  multiply_a_bt<double>(between, v, inner);
  between = 0.5 * (inner + inner.transpose());
  adjoint.swap(between);
}

Matrix<double> inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient) {
  Matrix<double> adjoint;
  SymmetricScratch scratch;
  inverse_sqrt_adjoint(eigen, gradient, adjoint, scratch);
  return adjoint;
}

}  // namespace tocca
