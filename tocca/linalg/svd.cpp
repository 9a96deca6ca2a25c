#include "tocca/linalg/svd.h"

#include <fmt/format.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"

namespace tocca {
namespace {

/// gap / (gap² + ε²): 1/gap, going smoothly to 0 where the gap is not above rounding. Squares could underflow.
double guarded_inverse(double gap, double epsilon) {
  const double length = std::hypot(gap, epsilon);
  return gap / length / length;
}

/// ε for quotients of these singular values; above 0 for the zero matrix too.
double least_gap(const Vector<double>& values) {
  constexpr double kLeast = 1e-290;
  return std::max(1e-8 * values(0), kLeast);
}

/// diag(∂L/∂values) + M from Uᵀ ∂L/∂U and (Vᵀ ∂L/∂V)ᵀ (r × r).
void inner_adjoint(const Vector<double>& values, const SvdGradient& gradient, ConstMatrixRef<double> in_left,
                   ConstMatrixRef<double> in_right, double epsilon, MatrixRef<double> inner) {
  for (Index i = 0; i < inner.rows(); ++i) {
    inner(i, i) = gradient.values(i);
    for (Index j = 0; j < i; ++j) {
      const double p = in_left(i, j) - in_left(j, i), q = in_right(j, i) - in_right(i, j);
      const double between = guarded_inverse(values(j) - values(i), epsilon) * (p + q) / 2;
      const double sum = guarded_inverse(values(j) + values(i), epsilon) * (p - q) / 2;
      inner(i, j) = between + sum;
      inner(j, i) = between - sum;
    }
  }
}

void require_finite_entries(ConstMatrixRef<double> x) {
  if (!x.allFinite())
    throw Error("thin_svd", "entries: got one that is not finite, need finite numbers; check the data");
}

/// L (n × n), lower triangular, with L Lᵀ = X Xᵀ: the triangle of the QR factorisation of Xᵀ. Column-major LAPACK sees
/// [L, more columns of X] transposed, and writes the new triangle where the old one was; beside it zeros stay zeros.
Matrix<double> lower_factor(ConstMatrixRef<double> x) {
  const Index n = x.rows(), width = std::min(x.cols(), std::max<Index>(2048, 2 * n));
  Matrix<double> stack = Matrix<double>::Zero(n, n + width);
  Vector<double> scales(n);
  detail::use_one_blas_thread();
  for (Index left = 0; left < x.cols(); left += width) {
    const Index columns = std::min(width, x.cols() - left);
    stack.middleCols(n, columns) = x.middleCols(left, columns);
    const lapack_int info =
        LAPACKE_dgeqrf(LAPACK_COL_MAJOR, static_cast<lapack_int>(n + columns), static_cast<lapack_int>(n), stack.data(),
                       static_cast<lapack_int>(n + width), scales.data());
    if (info != 0) throw Error("left_svd", fmt::format("LAPACK dgeqrf: got code {}, need 0; check the data", info));
  }
  return stack.leftCols(n).triangularView<Eigen::Lower>();
}

}  // namespace

LeftSvd left_svd(ConstMatrixRef<double> x) {
  require_finite_entries(x);
  ThinSvd svd = x.cols() >= 2 * x.rows() && x.rows() > 0 ? thin_svd(lower_factor(x)) : thin_svd(x);
  return {std::move(svd.left), std::move(svd.values)};
}

void thin_svd(ConstMatrixRef<double> x, ThinSvd& svd, Workspace& work) {
  const Index n = x.rows(), d = x.cols(), r = std::min(n, d);
  svd.left.resize(n, r);
  svd.values.resize(r);
  svd.right_t.resize(r, d);
  if (r == 0) return;
  // The workspace of dgesdd has about 4 r² + 7 r and r · (n + d) numbers, counted in LAPACK's 32 bits.
  constexpr Index kMost = 20'000;
  if (r > kMost || n > std::numeric_limits<lapack_int>::max() || d > std::numeric_limits<lapack_int>::max())
    throw InputError("thin_svd",
                     fmt::format("shape: got {} x {}, need at most {} rows or columns; take fewer", n, d, kMost));
  require_finite_entries(x);
  detail::use_one_blas_thread();
  const Workspace::Frame frame(work);
  MatrixMap<double> scratch = work.matrix<double>(n, d);
  scratch = x;
  const std::span<lapack_int> integers = work.array<lapack_int>(static_cast<std::size_t>(8 * r));
  // Column-major LAPACK sees Xᵀ = right · diag · leftᵀ; its two outputs are, read row-major, right_t and left.
  const auto rows = static_cast<lapack_int>(d), cols = static_cast<lapack_int>(n), rank = static_cast<lapack_int>(r);
  const auto dgesdd = [&](double* numbers, lapack_int count) {
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', rows, cols, scratch.data(), rows, svd.values.data(),
                               svd.right_t.data(), rows, svd.left.data(), rank, numbers, count, integers.data());
  };
  double best = 0;
  lapack_int info = dgesdd(&best, -1);  // asks how much it wants
  if (info == 0) {
    const std::span<double> numbers = work.array<double>(static_cast<std::size_t>(best));
    info = dgesdd(numbers.data(), static_cast<lapack_int>(numbers.size()));
  }
  if (info != 0)
    throw Error("thin_svd", fmt::format("LAPACK dgesdd: got code {}, need 0 (converged); scale the data", info));
}

ThinSvd thin_svd(ConstMatrixRef<double> x) {
  ThinSvd svd;
  Workspace work;
  thin_svd(x, svd, work);
  return svd;
}

void thin_svd_adjoint(const ThinSvd& svd, const SvdGradient& gradient, MatrixRef<double> x, Workspace& work) {
  const Index n = svd.left.rows(), d = svd.right_t.cols(), r = svd.values.size();
  detail::require_shape("thin_svd_adjoint", "the gradient of left", gradient.left, n, r);
  detail::require_shape("thin_svd_adjoint", "the gradient of values", gradient.values, r, 1);
  detail::require_shape("thin_svd_adjoint", "the gradient of right_t", gradient.right_t, r, d);
  if (r == 0) {
    x.setZero();
    return;
  }
  const double epsilon = least_gap(svd.values);
  const auto inverse = [&](Index i) { return guarded_inverse(svd.values(i), epsilon); };
  const Workspace::Frame frame(work);
  MatrixMap<double> in_left = work.matrix<double>(r, r), in_right = work.matrix<double>(r, r);
  multiply_at_b<double>(svd.left, gradient.left, in_left);
  multiply_a_bt<double>(gradient.right_t, svd.right_t, in_right);
  MatrixMap<double> inner = work.matrix<double>(r, r);
  inner_adjoint(svd.values, gradient, in_left, in_right, epsilon, inner);
  // U (inner Vᵀ + D⁻¹ ∂L/∂Vᵀ (I − V Vᵀ)), then (I − U Uᵀ) ∂L/∂U D⁻¹ Vᵀ.
  MatrixMap<double> right = work.matrix<double>(r, d), left = work.matrix<double>(n, r);
  for (Index i = 0; i < r; ++i) {
    right.row(i) = inverse(i) * gradient.right_t.row(i);
    inner.row(i) -= inverse(i) * in_right.row(i);
  }
  multiply<double>(inner, svd.right_t, right, 1, 1);
  left = gradient.left;
  multiply<double>(svd.left, in_left, left, -1, 1);
  for (Index i = 0; i < r; ++i) left.col(i) *= inverse(i);
  multiply<double>(svd.left, right, x);
  multiply<double>(left, svd.right_t, x, 1, 1);
}

Matrix<double> thin_svd_adjoint(const ThinSvd& svd, const SvdGradient& gradient) {
  Matrix<double> x(svd.left.rows(), svd.right_t.cols());
  Workspace work;
  thin_svd_adjoint(svd, gradient, x, work);
  return x;
}

void polar_factor(const ThinSvd& svd, MatrixRef<double> p) {
  detail::require_shape("polar_factor", "U", svd.left, svd.right_t.cols(), svd.right_t.cols());
  multiply<double>(svd.left, svd.right_t, p);
}

Matrix<double> polar_factor(const ThinSvd& svd) {
  Matrix<double> p(svd.left.rows(), svd.right_t.cols());
  polar_factor(svd, p);
  return p;
}

void polar_factor_adjoint(const ThinSvd& svd, ConstMatrixRef<double> gradient, MatrixRef<double> x, Workspace& work) {
  const Index d = svd.values.size();
  detail::require_shape("polar_factor_adjoint", "U", svd.left, d, d);
  detail::require_shape("polar_factor_adjoint", "Vᵀ", svd.right_t, d, d);
  detail::require_shape("polar_factor_adjoint", "the gradient", gradient, d, d);
  if (d == 0) return;
  const Workspace::Frame frame(work);
  MatrixMap<double> half = work.matrix<double>(d, d), m = work.matrix<double>(d, d);
  multiply_at_b<double>(svd.left, gradient, half);
  multiply_a_bt<double>(half, svd.right_t, m);  // G
  const double epsilon = least_gap(svd.values);
  for (Index i = 0; i < d; ++i) {
    m(i, i) = 0;
    for (Index j = 0; j < i; ++j) {
      m(i, j) = (m(i, j) - m(j, i)) * guarded_inverse(svd.values(i) + svd.values(j), epsilon);
      m(j, i) = -m(i, j);
    }
  }
  multiply<double>(svd.left, m, half);
  multiply<double>(half, svd.right_t, x);
}

Matrix<double> polar_factor_adjoint(const ThinSvd& svd, ConstMatrixRef<double> gradient) {
  Matrix<double> x(svd.left.rows(), svd.right_t.cols());
  Workspace work;
  polar_factor_adjoint(svd, gradient, x, work);
  return x;
}

}  // namespace tocca
