#include "tocca/linalg/symmetric.h"

#include <fmt/format.h>
#include <lapacke.h>

#include <cmath>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

void require_square_and_finite(ConstMatrixRef<double> s) {
  if (s.rows() != s.cols())
    throw InputError("symmetric_eigen",
                     fmt::format("shape: got {} x {}, need a square matrix; pass a covariance", s.rows(), s.cols()));
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

SymmetricEigen symmetric_eigen(ConstMatrixRef<double> s) {
  require_countable(s.rows());
  require_square_and_finite(s);
  detail::use_one_blas_thread();
  const auto d = static_cast<lapack_int>(s.rows());
  SymmetricEigen eigen{Vector<double>(d), s};
  if (d == 0) return eigen;
  // Column-major LAPACK sees the transpose: our lower triangle is its upper one, and its columns come back as our rows.
  const lapack_int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', d, eigen.vectors.data(), d, eigen.values.data());
  if (info != 0)
    throw Error("symmetric_eigen", fmt::format("LAPACK dsyevd: got code {}, need 0 (converged); scale the data", info));
  eigen.vectors.transposeInPlace();
  return eigen;
}

Matrix<double> inverse_sqrt(const SymmetricEigen& eigen) {
  require_positive(eigen.values);
  const Index d = eigen.values.size();
  // As a Gram matrix of values^{-1/4} Vᵀ the result is symmetric to the last bit, at half the cost of a product.
  const Matrix<double> half = eigen.values.array().pow(-0.25).matrix().asDiagonal() * eigen.vectors.transpose();
  Matrix<double> u(d, d);
  multiply_at_a<double>(half, u);
  return u;
}

Matrix<double> inverse_sqrt_adjoint(const SymmetricEigen& eigen, ConstMatrixRef<double> gradient) {
  require_positive(eigen.values);
  const Index d = eigen.values.size();
  if (gradient.rows() != d || gradient.cols() != d)
    throw InputError("inverse_sqrt_adjoint", fmt::format("shape of the gradient: got {} x {}, need {} x {}; pass dL/dU",
                                                         gradient.rows(), gradient.cols(), d, d));
  const Matrix<double>& v = eigen.vectors;
  Matrix<double> inner = 0.5 * (gradient + gradient.transpose());
  Matrix<double> scratch(d, d);
  multiply_at_b<double>(v, inner, scratch);
  multiply<double>(scratch, v, inner);
  const Vector<double> root = eigen.values.cwiseSqrt();
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) inner(i, j) *= -1 / (root(i) * root(j) * (root(i) + root(j)));
  multiply<double>(v, inner, scratch);
  multiply_a_bt<double>(scratch, v, inner);
  return 0.5 * (inner + inner.transpose());
}

}  // namespace tocca
