// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/small_eigen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/small_eigen.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Rows are padded with zeros to whole cache lines, so that no loop over a row has a rest.
constexpr std::size_t kLanes = HWY_LANES(double);
constexpr std::size_t kBlock = 64 / sizeof(double);
constexpr std::size_t kVectors = kBlock / kLanes;

// The largest number of the scaled matrix is below 1: what is this small has no meaning, and its square few digits.
constexpr double kNothing = 1e-145;

constexpr std::size_t round_down(std::size_t n) { return n / kBlock * kBlock; }

// The pieces of the scratch, all aligned.
struct Place {
  std::size_t n, stride;
  double* a;          // (n × stride) the matrix; later row k holds reflector k
  double* q;          // (n × stride) the vectors, in rows
  double *v, *w;      // (stride) a reflector, and what comes off the matrix with it
  double *tau, *off;  // (n) factors of the reflectors; the numbers beside the diagonal
  double* sorted;     // (n) values

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
          .v = take(stride),
          .w = take(stride),
          .tau = take(stride),
          .off = take(stride),
          .sorted = take(stride)};
  return p;
}

// sum[j] ← Σ x[i] · m[i][j] over the rows `first` to n, for all columns from the block of `first` on.
void weighted_row_sum(const Place& p, const double* m, const double* x, std::size_t first, double* sum) {
  const D d;
  for (std::size_t j = round_down(first); j < p.stride; j += kBlock) {
    V total[kVectors];
    V other[kVectors];  // of every second row: two chains of additions at a time
    for (std::size_t q = 0; q < kVectors; ++q) total[q] = other[q] = hn::Zero(d);
    std::size_t i = first;
    for (; i + 1 < p.n; i += 2) {
      const V xi = hn::Set(d, x[i]), xj = hn::Set(d, x[i + 1]);
      const double* const row = m + i * p.stride + j;
      for (std::size_t q = 0; q < kVectors; ++q) {
        total[q] = hn::MulAdd(xi, hn::Load(d, row + q * kLanes), total[q]);
        other[q] = hn::MulAdd(xj, hn::Load(d, row + p.stride + q * kLanes), other[q]);
      }
    }
    for (std::size_t q = 0; q < kVectors && i < p.n; ++q) {
      total[q] = hn::MulAdd(hn::Set(d, x[i]), hn::Load(d, m + i * p.stride + j + q * kLanes), total[q]);
    }
    for (std::size_t q = 0; q < kVectors; ++q) hn::Store(hn::Add(total[q], other[q]), d, sum + j + q * kLanes);
  }
}

// Makes the reflector of column k in p.v (1 at k + 1, zeros before); returns its factor.
double make_reflector(const Place& p, std::size_t k) {
  const double* const row = p.row_a(k);
  double rest = 0;
  for (std::size_t j = k + 2; j < p.n; ++j) rest += row[j] * row[j];
  const double alpha = row[k + 1];
  std::fill(p.v + round_down(k + 1), p.v + k + 1, 0.0);
  p.v[k + 1] = 1;
  if (rest < kNothing * kNothing) {
    std::fill(p.v + k + 2, p.v + p.n, 0.0);
    p.off[k] = alpha;
    return 0;
  }
  const double beta = -std::copysign(std::sqrt(alpha * alpha + rest), alpha);
  const double scale = 1 / (alpha - beta);
  for (std::size_t j = k + 2; j < p.n; ++j) p.v[j] = scale * row[j];
  p.off[k] = beta;
  return (beta - alpha) / beta;
}

// p.a becomes tridiagonal: `diagonal` and p.off. Row k of p.a holds reflector k from column k + 1 on.
void to_tridiagonal(const Place& p, double* diagonal) {
  const D d;
  const std::size_t n = p.n;
  for (std::size_t k = 0; k + 2 < n; ++k) {
    const std::size_t first = k + 1, block = round_down(first);
    const double tau = p.tau[k] = make_reflector(p, k);
    if (tau != 0) {
      weighted_row_sum(p, p.a, p.v, first, p.w);
      double dot = 0;
      for (std::size_t j = first; j < n; ++j) dot += p.v[j] * p.w[j];
      for (std::size_t j = block; j < p.stride; ++j) p.w[j] = tau * (p.w[j] - 0.5 * tau * dot * p.v[j]);
      for (std::size_t i = first; i < n; ++i) {
        const V vi = hn::Set(d, p.v[i]), wi = hn::Set(d, p.w[i]);
        double* const row = p.row_a(i);
        for (std::size_t j = block; j < p.stride; j += kLanes) {
          const V less = hn::NegMulAdd(vi, hn::Load(d, p.w + j), hn::Load(d, row + j));
          hn::Store(hn::NegMulAdd(wi, hn::Load(d, p.v + j), less), d, row + j);
        }
      }
    }
    diagonal[k] = p.row_a(k)[k];
    std::copy(p.v + first, p.v + n, p.row_a(k) + first);
  }
  if (n >= 2) {
    diagonal[n - 2] = p.row_a(n - 2)[n - 2];
    p.off[n - 2] = p.row_a(n - 2)[n - 1];
  }
  diagonal[n - 1] = p.row_a(n - 1)[n - 1];
  p.off[n - 1] = 0;
}

void transpose_q(const Place& p) {
  for (std::size_t i = 0; i < p.n; ++i) {
    for (std::size_t j = 0; j < i; ++j) std::swap(p.row_q(i)[j], p.row_q(j)[i]);
  }
}

// p.q ← (H_0 H_1 ...)ᵀ.
void gather_reflectors(const Place& p) {
  const D d;
  for (std::size_t i = 0; i < p.n; ++i) p.row_q(i)[i] = 1;
  for (std::size_t k = p.n < 2 ? 0 : p.n - 2; k-- > 0;) {
    if (p.tau[k] == 0) continue;
    const std::size_t first = k + 1;
    const double* const v = p.row_a(k);
    weighted_row_sum(p, p.q, v, first, p.w);
    for (std::size_t i = first; i < p.n; ++i) {
      const V factor = hn::Set(d, p.tau[k] * v[i]);
      double* const row = p.row_q(i);
      for (std::size_t j = round_down(first); j < p.stride; j += kLanes) {
        hn::Store(hn::NegMulAdd(factor, hn::Load(d, p.w + j), hn::Load(d, row + j)), d, row + j);
      }
    }
  }
  transpose_q(p);
}

// Rotates rows i and i + 1 of p.q.
HWY_INLINE void rotate(const Place& p, std::size_t i, double cosine, double sine) {
  const D d;
  const V c = hn::Set(d, cosine), s = hn::Set(d, sine);
  double *const upper = p.row_q(i), *const lower = p.row_q(i + 1);
  for (std::size_t j = 0; j < p.stride; j += kLanes) {
    const V x = hn::Load(d, upper + j), y = hn::Load(d, lower + j);
    hn::Store(hn::MulAdd(s, x, hn::Mul(c, y)), d, lower + j);
    hn::Store(hn::NegMulAdd(s, y, hn::Mul(c, x)), d, upper + j);
  }
}

// One sweep of the QL iteration over the rows l to m of a tridiagonal matrix that is unreduced between them. A rotation
// waits for the one before through a square root and two divisions; the processor applies it to the vectors meanwhile.
void sweep(const Place& p, double* diagonal, std::size_t l, std::size_t m) {
  double* const off = p.off;
  const double ratio = (diagonal[l + 1] - diagonal[l]) / (2 * off[l]);
  const double shift = off[l] / (ratio + std::copysign(std::hypot(ratio, 1.0), ratio));
  double g = diagonal[m] - diagonal[l] + shift;
  double s = 1, c = 1, moved = 0;
  std::size_t i = m;
  while (i-- > l) {
    const double f = s * off[i], b = c * off[i];
    const double r = std::sqrt(f * f + g * g);
    off[i + 1] = r;
    if (r < kNothing) {  // the matrix falls apart here, and a rotation from numbers close to underflow would not be one
      diagonal[i + 1] -= moved;
      off[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = diagonal[i + 1] - moved;
    const double t = (diagonal[i] - g) * s + 2 * c * b;
    moved = s * t;
    diagonal[i + 1] = g + moved;
    g = c * t - b;
    rotate(p, i, c, s);
  }
  diagonal[l] -= moved;
  off[l] = g;
  off[m] = 0;
}

bool ql(const Place& p, double* diagonal) {
  // What lies beside the diagonal and is below the rounding of the whole matrix is nothing: in a block that is rounding
  // alone, as that of a matrix of low rank, its neighbours on the diagonal are no larger, and it would never vanish.
  double norm = 0;
  for (std::size_t i = 0; i < p.n; ++i) norm = std::max({norm, std::abs(diagonal[i]), std::abs(p.off[i])});
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double negligible = 0.5 * kEpsilon * norm;
  std::size_t sweeps_left = 30 * p.n;  // two for each eigenvalue are usual
  for (std::size_t l = 0; l < p.n; ++l) {
    while (true) {
      std::size_t m = l;
      while (m + 1 < p.n && std::abs(p.off[m]) > negligible &&
             std::abs(p.off[m]) > kEpsilon * (std::abs(diagonal[m]) + std::abs(diagonal[m + 1]))) {
        ++m;
      }
      if (m == l) break;
      if (sweeps_left-- == 0) return false;
      sweep(p, diagonal, l, m);
    }
  }
  return true;
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
  // Powers of two, so that only what nearly underflows is rounded, bring squares far from overflow and underflow.
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double scale = std::ldexp(1.0, -exponent / 2), rest = std::ldexp(1.0, -exponent - -exponent / 2);
  for (std::size_t i = 0; i < n * p.stride; ++i) p.a[i] = p.a[i] * scale * rest;
  to_tridiagonal(p, values);
  gather_reflectors(p);
  if (!ql(p, values)) return false;
  // Ascending, equal ones in the order they were found.
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t rank = 0;
    for (std::size_t j = 0; j < n; ++j) rank += values[j] < values[i] || (values[j] == values[i] && j < i) ? 1 : 0;
    p.sorted[rank] = std::ldexp(values[i], exponent);
    std::copy_n(p.row_q(i), n, matrix + rank * n);
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
