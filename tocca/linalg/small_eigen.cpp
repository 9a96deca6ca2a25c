// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/small_eigen.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/small_eigen.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/tridiagonal_ql_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Rows are padded with zeros to whole cache lines, so that no loop over a row has a rest.
constexpr std::size_t kLanes = HWY_LANES(double);
constexpr std::size_t kBlock = 64 / sizeof(double);
constexpr std::size_t kVectors = kBlock / kLanes;

// The scaled matrix has eigenvalues below 1: what is this small has no meaning, and its square few digits.
constexpr double kNothing = 1e-145;

constexpr std::size_t round_down(std::size_t n) { return n / kBlock * kBlock; }

// The pieces of the scratch, all aligned and zero at first.
struct Place {
  std::size_t n, stride;
  double* a;          // (n × stride) the matrix; later row k holds reflector k from column k + 1 on
  double* q;          // (n × stride) the vectors, in rows
  double *w, *next;   // (stride) what comes off the matrix with a reflector, and with the next one
  double *tau, *off;  // (stride) factors of the reflectors; what stands beside the diagonal
  double* sorted;     // (stride) values

  [[nodiscard]] double* row_a(std::size_t i) const { return a + i * stride; }
  [[nodiscard]] double* row_q(std::size_t i) const { return q + i * stride; }
};

Place make_place(std::size_t n, double* scratch) {
  const std::size_t stride = detail::small_eigen_stride(n);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(scratch) / sizeof(double) % kBlock;
  double* at = scratch + (past == 0 ? 0 : kBlock - past);
  std::fill_n(at, detail::small_eigen_scratch(n) - kBlock, 0.0);
  const auto take = [&](std::size_t count) { return std::exchange(at, at + count); };
  Place p{.n = n,
          .stride = stride,
          .a = take(n * stride),
          .q = take(n * stride),
          .w = take(stride),
          .next = take(stride),
          .tau = take(stride),
          .off = take(stride),
          .sorted = take(stride)};
  return p;
}

// pass.columns<vectors>(first column) for all columns from the block of `first` on, four vectors of them at a time.
template <class Pass>
HWY_INLINE void over_columns(std::size_t first, std::size_t stride, const Pass& pass) {
  std::size_t j = round_down(first);
  for (; j + 4 * kLanes <= stride; j += 4 * kLanes) pass.template columns<4>(j);
  switch ((stride - j) / kLanes) {
    case 3:
      return pass.template columns<3>(j);
    case 2:
      return pass.template columns<2>(j);
    case 1:
      return pass.template columns<1>(j);
    default:
      return;
  }
}

// The eight sums of every eighth number that a block is, in an order that does not depend on the length of vectors.
HWY_INLINE double sum_of_block(const V (&sums)[kVectors]) {
  alignas(64) double s[kBlock];
  for (std::size_t q = 0; q < kVectors; ++q) hn::Store(sums[q], D(), s + q * kLanes);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

HWY_INLINE double dot(const double* x, const double* y, std::size_t from, std::size_t to) {
  const D d;
  V sums[kVectors];
  for (std::size_t q = 0; q < kVectors; ++q) sums[q] = hn::Zero(d);
  for (std::size_t j = from; j < to; j += kLanes) {
    V& sum = sums[j / kLanes % kVectors];
    sum = hn::MulAdd(hn::Load(d, x + j), hn::Load(d, y + j), sum);
  }
  return sum_of_block(sums);
}

// Row k of p.a becomes the reflector of column k (1 at k + 1, zeros before it in its block); returns its factor.
double make_reflector(const Place& p, std::size_t k) {
  double* const row = p.row_a(k);
  const std::size_t first = k + 1, block = round_down(first);
  const double alpha = row[first];
  std::fill(row + block, row + first + 1, 0.0);
  const double rest = dot(row, row, block, p.stride);
  if (rest < kNothing * kNothing) {
    std::fill(row + block, row + p.n, 0.0);
    row[first] = 1;
    p.off[k] = alpha;
    return 0;
  }
  const D d;
  const double beta = -std::copysign(std::sqrt(alpha * alpha + rest), alpha);
  const V scale = hn::Set(d, 1 / (alpha - beta));
  for (std::size_t j = block; j < p.stride; j += kLanes) hn::Store(hn::Mul(scale, hn::Load(d, row + j)), d, row + j);
  row[first] = 1;
  p.off[k] = beta;
  return (beta - alpha) / beta;
}

// m ← m − v wᵀ − w vᵀ in the rows from `first` on, and of these sum[j] ← Σ x[i] m[i][j].
struct UpdateAndSum {
  const Place& p;
  const double *v, *w, *x;
  std::size_t first;
  double* sum;

  template <std::size_t kWide>
  HWY_INLINE void columns(std::size_t j) const {
    const D d;
    V vj[kWide], wj[kWide], total[kWide];
    for (std::size_t q = 0; q < kWide; ++q) {
      vj[q] = hn::Load(d, v + j + q * kLanes);
      wj[q] = hn::Load(d, w + j + q * kLanes);
      total[q] = hn::Zero(d);
    }
    for (std::size_t i = first; i < p.n; ++i) {
      const V vi = hn::Set(d, v[i]), wi = hn::Set(d, w[i]), xi = hn::Set(d, x[i]);
      double* const row = p.row_a(i) + j;
      for (std::size_t q = 0; q < kWide; ++q) {
        const V less = hn::NegMulAdd(wi, vj[q], hn::NegMulAdd(vi, wj[q], hn::Load(d, row + q * kLanes)));
        hn::Store(less, d, row + q * kLanes);
        total[q] = hn::MulAdd(xi, less, total[q]);
      }
    }
    for (std::size_t q = 0; q < kWide; ++q) hn::Store(total[q], d, sum + j + q * kLanes);
  }
};

// p.a becomes tridiagonal: `diagonal` and p.off. Row k of p.a holds reflector k from column k + 1 on. What a reflector
// takes off the matrix is taken off while the products with the next one are made, in one pass over the matrix; only
// the row that the next one comes from is done before.
void to_tridiagonal(const Place& p, double* diagonal) {
  const D d;
  const std::size_t n = p.n;
  const double* v = p.next;  // no reflector yet: zeros
  double *w = p.next, *next = p.w;
  for (std::size_t k = 0; k + 2 < n; ++k) {
    const std::size_t first = k + 1, block = round_down(first);
    diagonal[k] = p.row_a(k)[k];
    const double tau = p.tau[k] = make_reflector(p, k);
    const double* const x = p.row_a(k);
    over_columns(first, p.stride, UpdateAndSum{p, v, w, x, first, next});
    const V share = hn::Set(d, 0.5 * tau * dot(x, next, block, p.stride)), factor = hn::Set(d, tau);
    const V at = hn::Set(d, next[first]);
    const V w_first = hn::Mul(factor, hn::Sub(at, share));  // x is 1 there
    double* const row = p.row_a(first);
    for (std::size_t j = block; j < p.stride; j += kLanes) {
      const V xj = hn::Load(d, x + j);
      const V wj = hn::Mul(factor, hn::NegMulAdd(share, xj, hn::Load(d, next + j)));
      hn::Store(wj, d, next + j);
      hn::Store(hn::NegMulAdd(w_first, xj, hn::Sub(hn::Load(d, row + j), wj)), d, row + j);
    }
    v = x;
    std::swap(w, next);
  }
  if (n >= 2) {
    diagonal[n - 2] = p.row_a(n - 2)[n - 2];
    p.off[n - 2] = p.row_a(n - 2)[n - 1];
  }
  diagonal[n - 1] = p.row_a(n - 1)[n - 1] - 2 * v[n - 1] * w[n - 1];
  p.off[n - 1] = 0;
}

// p.q ← (H_0 H_1 ...), where that is not zero; p.q is the identity before. A reflector is applied while the products
// with the one before it are summed.
struct GatherReflectors {
  const Place& p;

  template <std::size_t kWide>
  HWY_INLINE void columns(std::size_t j) const {
    const D d;
    // Reflector k changes columns from k + 1 on.
    std::size_t k = std::min(p.n - 2, j + kWide * kLanes - 1);
    V total[kWide];
    for (std::size_t q = 0; q < kWide; ++q) total[q] = hn::Zero(d);
    for (std::size_t i = k; i < p.n; ++i) add_product(p.row_a(k - 1)[i], p.row_q(i) + j, total);
    while (k-- > 0) {
      const double* const v = p.row_a(k);
      const double* const before = p.row_a(k == 0 ? 0 : k - 1);
      const V tau = hn::Set(d, p.tau[k]);
      V less[kWide];
      for (std::size_t q = 0; q < kWide; ++q) {
        less[q] = hn::Mul(tau, total[q]);
        total[q] = hn::Zero(d);
      }
      add_product(1, p.row_q(k) + j, total);
      for (std::size_t i = k + 1; i < p.n; ++i) {
        const V vi = hn::Set(d, v[i]), bi = hn::Set(d, before[i]);
        double* const row = p.row_q(i) + j;
        for (std::size_t q = 0; q < kWide; ++q) {
          const V changed = hn::NegMulAdd(vi, less[q], hn::Load(d, row + q * kLanes));
          hn::Store(changed, d, row + q * kLanes);
          total[q] = hn::MulAdd(bi, changed, total[q]);
        }
      }
    }
  }

  template <std::size_t kWide>
  static HWY_INLINE void add_product(double factor, const double* row, V (&total)[kWide]) {
    const D d;
    for (std::size_t q = 0; q < kWide; ++q) {
      total[q] = hn::MulAdd(hn::Set(d, factor), hn::Load(d, row + q * kLanes), total[q]);
    }
  }
};

// p.q ← (H_0 H_1 ...)ᵀ.
void gather_reflectors(const Place& p) {
  for (std::size_t i = 0; i < p.n; ++i) p.row_q(i)[i] = 1;
  if (p.n > 2) over_columns(0, p.stride, GatherReflectors{p});
  for (std::size_t i = 0; i < p.n; ++i) {
    for (std::size_t j = 0; j < i; ++j) std::swap(p.row_q(i)[j], p.row_q(j)[i]);
  }
}

bool eigen(std::size_t n, double* matrix, double* values, double* scratch) {
  if (n == 0) return true;
  const Place p = make_place(n, scratch);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      p.row_a(i)[j] = p.row_a(j)[i] = matrix[i * n + j];
      largest = std::max(largest, std::abs(matrix[i * n + j]));
    }
  }
  // Powers of two, so that only what nearly underflows is rounded, bring squares far from overflow and underflow, and
  // eigenvalues below 1.
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent += static_cast<int>(std::bit_width(n));
  const double scale = std::ldexp(1.0, -exponent / 2), rest = std::ldexp(1.0, -exponent - -exponent / 2);
  for (std::size_t i = 0; i < n * p.stride; ++i) p.a[i] = p.a[i] * scale * rest;
  to_tridiagonal(p, values);
  gather_reflectors(p);
  if (!ql({n, p.stride, p.q, values, p.off})) return false;
  // Ascending, equal ones in the order they were found.
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t rank = 0;
    for (std::size_t j = 0; j < n; ++j) rank += values[j] < values[i] || (values[j] == values[i] && j < i) ? 1 : 0;
    p.sorted[rank] = std::ldexp(values[i], exponent);
    for (std::size_t j = 0; j < n; ++j) matrix[j * n + rank] = p.row_q(i)[j];
  }
  std::copy_n(p.sorted, n, values);
  return true;
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

HWY_EXPORT(eigen);
bool detail::small_symmetric_eigen(std::size_t n, double* matrix, double* values, double* scratch) {
  return HWY_DYNAMIC_DISPATCH(eigen)(n, matrix, values, scratch);
}

}  // namespace tocca
#endif
