#include "tocca/linalg/blas.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "tocca/core/error.h"
#include "tocca/linalg/blocked.h"
#include "tocca/linalg/skinny.h"
#include "tocca/linalg/split_products.h"

namespace tocca {
namespace {

void require_shape(const char* where, Index rows, Index cols, Index need_rows, Index need_cols) {
  if (rows == need_rows && cols == need_cols) return;
  throw InputError(where,
                   fmt::format("shape of C: got {} x {}, need {} x {}; resize it", rows, cols, need_rows, need_cols));
}

void require_inner(const char* where, Index a, Index b) {
  if (a == b) return;
  throw InputError(where, fmt::format("inner dimensions: got {} and {}, need equal ones; check both matrices", a, b));
}

int blas_int(Index n) {
  if (n > std::numeric_limits<int>::max())
    throw InputError("blas", fmt::format("dimension: got {}, need at most {}; work in blocks of rows", n,
                                         std::numeric_limits<int>::max()));
  return static_cast<int>(n);
}

/// The distance between rows. Eigen gives a matrix of one row or no columns any stride, BLAS insists on a sound one.
template <class M>
int leading_dimension(const M& m) {
  return blas_int(std::max({m.outerStride(), m.cols(), Index{1}}));
}

template <class S>
void scale(MatrixRef<S> c, S beta) {
  if (beta == S{0})
    c.setZero();
  else
    c *= beta;
}

template <class S>
void gemm(CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, Index inner, ConstMatrixRef<S> a, ConstMatrixRef<S> b,
          MatrixRef<S> c, S alpha, S beta) {
  if (c.size() == 0) return;
  if (inner == 0) return scale<S>(c, beta);
  detail::use_one_blas_thread();
  const int m = blas_int(c.rows()), n = blas_int(c.cols()), k = blas_int(inner);
  const int lda = leading_dimension(a), ldb = leading_dimension(b), ldc = leading_dimension(c);
  if constexpr (std::is_same_v<S, float>)
    cblas_sgemm(CblasRowMajor, op_a, op_b, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
  else
    cblas_dgemm(CblasRowMajor, op_a, op_b, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
}

template <class S>
detail::Product<S> product_of(Index inner, ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S>& c, S alpha, S beta) {
  const auto size = [](Index n) { return static_cast<std::size_t>(n); };
  return {size(c.rows()), size(inner), size(c.cols()), rows_of<S>(a), rows_of<S>(b), rows_of<S>(c), alpha,
          beta != S{0},   0,           size(c.cols())};
}

template <class S>
bool is_small(const detail::Product<S>& product) {
  return product.m * product.k * product.n <= (std::size_t{1} << 20);
}

/// Up to so many rows the kernels for few were measured to be faster than OpenBLAS (docs/performance.md).
template <class S>
bool has_few_rows(const detail::Product<S>& product) {
  return product.m <= static_cast<std::size_t>(kFewRows) || is_small(product);
}

/// Makes a product with one of our own kernels.
template <class S, class Kernel>
void run(Kernel kernel, const detail::Product<S>& product, MatrixRef<S>& c, S beta) {
  if (beta != S{0} && beta != S{1}) c *= beta;
  kernel(product);
}

/// Whether the processor's matrix unit is faster.
template <class S>
bool is_for_unit(const detail::Product<S>& product) {
  if constexpr (std::is_same_v<S, float>) return detail::split_is_faster(product);
  return false;
}

/// A B by one of our own kernels.
template <class S>
void multiply_own(const detail::Product<S>& product) {
  if constexpr (std::is_same_v<S, float>) {
    if (is_for_unit(product)) return detail::split_a_b(product);
  }
  if (has_few_rows(product)) return detail::skinny_a_b(product);
  detail::blocked_a_b(product);
}

template <class S>
void syrk(ConstMatrixRef<S> a, MatrixRef<S> c, S alpha, S beta) {
  detail::use_one_blas_thread();
  const int n = blas_int(c.rows()), k = blas_int(a.rows());
  const int lda = leading_dimension(a), ldc = leading_dimension(c);
  if constexpr (std::is_same_v<S, float>)
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, n, k, alpha, a.data(), lda, beta, c.data(), ldc);
  else
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, k, alpha, a.data(), lda, beta, c.data(), ldc);
}

/// Copies the lower triangle onto the upper one, in tiles so that neither side walks through memory column by column.
template <class S>
void mirror_lower(MatrixRef<S> c) {
  constexpr Index kTile = 32;
  const Index n = c.rows();
  for (Index top = 0; top < n; top += kTile)
    for (Index left = 0; left <= top; left += kTile)
      for (Index i = top; i < std::min(top + kTile, n); ++i)
        for (Index j = left; j < std::min(left + kTile, i); ++j) c(j, i) = c(i, j);
}

}  // namespace

void detail::use_one_blas_thread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

template <class S>
void multiply(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha, S beta) {
  require_inner("multiply", a.cols(), b.rows());
  require_shape("multiply", c.rows(), c.cols(), a.rows(), b.cols());
  const auto product = product_of<S>(a.cols(), a, b, c, alpha, beta);
  if (has_few_rows(product) || is_for_unit(product) || detail::blocked_is_faster(product.k))
    return run<S>(multiply_own<S>, product, c, beta);
  gemm<S>(CblasNoTrans, CblasNoTrans, a.cols(), a, b, c, alpha, beta);
}

template <class S>
void multiply_columns(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, Index first, Index count, S alpha,
                      S beta) {
  require_inner("multiply_columns", a.cols(), b.rows());
  require_shape("multiply_columns", c.rows(), c.cols(), a.rows(), b.cols());
  if (first < 0 || count < 0 || count > c.cols() - first) {
    throw InputError("multiply_columns",
                     fmt::format("columns: got {} from {} on, C has {}; choose some of them", count, first, c.cols()));
  }
  if (a.rows() > kFewRows) {
    throw InputError("multiply_columns",
                     fmt::format("rows of A: got {}, need at most {}; multiply the whole", a.rows(), kFewRows));
  }
  auto product = product_of<S>(a.cols(), a, b, c, alpha, beta);
  product.b.data += first;
  product.c.data += first;
  product.n = static_cast<std::size_t>(count);
  product.columns_before = static_cast<std::size_t>(first);
  MatrixRef<S> part = c.middleCols(first, count);
  run<S>(multiply_own<S>, product, part, beta);
}

template <class S>
Index columns_worth_a_call(Index m, Index k, Index n) {
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  const detail::Product<S> whole{size(m), size(k), size(n), {}, {}, {}, 1, false, 0, size(n)};
  return is_for_unit(whole) ? 128 : 48;  // the unit prepares A in every call; whole panels (linalg/tile_inl.h)
}

template <class S>
void multiply_at_b(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha, S beta) {
  require_inner("multiply_at_b", a.rows(), b.rows());
  require_shape("multiply_at_b", c.rows(), c.cols(), a.cols(), b.cols());
  if (const auto product = product_of<S>(a.rows(), a, b, c, alpha, beta); is_small(product)) {
    return run<S>([](const auto& p) { detail::skinny_at_b(p); }, product, c, beta);
  }
  gemm<S>(CblasTrans, CblasNoTrans, a.rows(), a, b, c, alpha, beta);
}

template <class S>
void multiply_a_bt(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha, S beta) {
  require_inner("multiply_a_bt", a.cols(), b.cols());
  require_shape("multiply_a_bt", c.rows(), c.cols(), a.rows(), b.rows());
  const auto product = product_of<S>(a.cols(), a, b, c, alpha, beta);
  if (has_few_rows(product)) return run<S>([](const auto& p) { detail::skinny_a_bt(p); }, product, c, beta);
  if (detail::blocked_is_faster(product.k)) {
    return run<S>([](const auto& p) { detail::blocked_a_bt(p); }, product, c, beta);
  }
  gemm<S>(CblasNoTrans, CblasTrans, a.cols(), a, b, c, alpha, beta);
}

template <class S>
void multiply_at_a(ConstMatrixRef<S> a, MatrixRef<S> c, S alpha, S beta) {
  require_shape("multiply_at_a", c.rows(), c.cols(), a.cols(), a.cols());
  if (c.size() == 0) return;
  if (a.rows() == 0) return scale<S>(c, beta);
  if (const auto product = product_of<S>(a.rows(), a, a, c, alpha, beta); is_small(product)) {
    run<S>([](const auto& p) { detail::skinny_lower_at_b(p); }, product, c, beta);
  } else {
    syrk<S>(a, c, alpha, beta);
  }
  mirror_lower<S>(c);
}

template void multiply<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, MatrixRef<float>, float, float);
template void multiply<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<double>, double, double);
template void multiply_columns<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, MatrixRef<float>, Index, Index,
                                      float, float);
template void multiply_columns<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<double>, Index, Index,
                                       double, double);
template Index columns_worth_a_call<float>(Index, Index, Index);
template Index columns_worth_a_call<double>(Index, Index, Index);
template void multiply_at_b<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, MatrixRef<float>, float, float);
template void multiply_at_b<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<double>, double, double);
template void multiply_a_bt<float>(ConstMatrixRef<float>, ConstMatrixRef<float>, MatrixRef<float>, float, float);
template void multiply_a_bt<double>(ConstMatrixRef<double>, ConstMatrixRef<double>, MatrixRef<double>, double, double);
template void multiply_at_a<float>(ConstMatrixRef<float>, MatrixRef<float>, float, float);
template void multiply_at_a<double>(ConstMatrixRef<double>, MatrixRef<double>, double, double);

}  // namespace tocca
