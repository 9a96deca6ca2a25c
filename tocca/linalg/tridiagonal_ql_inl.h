/// Eigenvalues and vectors of small symmetric tridiagonal matrices by the QL iteration with Wilkinson's shift. Included
/// by kernels that Highway compiles once for each instruction set, hence no ordinary include guard.
#include "tocca/core/fixed_length_vectors.h"

#if defined(TOCCA_LINALG_TRIDIAGONAL_QL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOCCA_LINALG_TRIDIAGONAL_QL_INL_H
#undef TOCCA_LINALG_TRIDIAGONAL_QL_INL_H
#else
#define TOCCA_LINALG_TRIDIAGONAL_QL_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tocca/linalg/small_eigen.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// T, whose eigenvalues are below 1, and rows of vectors that are turned with its own: n rows of `stride` numbers,
/// which fill vectors and begin at a multiple of their length.
struct Tridiagonal {
  std::size_t n, stride;
  double* vectors;
  double *diagonal, *off;  ///< (n) the numbers of the diagonal and those beside them, of which the last is 0

  [[nodiscard]] double* row(std::size_t i) const { return vectors + i * stride; }
};

// Rotations of rows of the vectors, each of row i + 1 and row i: three shears, whose small errors are in proportion to
// the angle, with the tangent of its half, which is at most 1. They are made some steps after they are known: what
// waits for a rotation would otherwise stand in the way of finding the next one.
class Rotations {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;

 public:
  explicit Rotations(const Tridiagonal& t) : t_(t) {}

  HWY_INLINE void add(std::size_t row, double cosine, double sine) {
    waiting_[added_++ % kPlaces] = {row, sine / (1 + cosine), sine};
    if (added_ - made_ > kMostWaiting) make_next();
  }

  void make_all() {
    while (made_ != added_) make_one();
  }

 private:
  struct Rotation {
    std::size_t row;
    double half_tangent, sine;
  };
  static constexpr std::size_t kPlaces = 16, kMostWaiting = 8;

  HWY_INLINE void make_next() {
    const Rotation &one = waiting_[made_ % kPlaces], &two = waiting_[(made_ + 1) % kPlaces];
    if (two.row + 1 == one.row) {
      make_two(one, two);
    } else {
      make_one();
    }
  }

  static HWY_INLINE void turn(V& upper, V& lower, V half_tangent, V sine) {
    upper = hn::NegMulAdd(half_tangent, lower, upper);
    lower = hn::MulAdd(sine, upper, lower);
    upper = hn::NegMulAdd(half_tangent, lower, upper);
  }

  HWY_INLINE void make_one() {
    const D d;
    const Rotation& one = waiting_[made_++ % kPlaces];
    const V half = hn::Set(d, one.half_tangent), s = hn::Set(d, one.sine);
    double *const upper = t_.row(one.row), *const lower = upper + t_.stride;
    for (std::size_t j = 0; j < t_.stride; j += hn::Lanes(d)) {
      V x = hn::Load(d, upper + j), y = hn::Load(d, lower + j);
      turn(x, y, half, s);
      hn::Store(y, d, lower + j);
      hn::Store(x, d, upper + j);
    }
  }

  // The row that both turn stays in registers.
  HWY_INLINE void make_two(const Rotation& one, const Rotation& two) {
    const D d;
    const V half = hn::Set(d, one.half_tangent), s = hn::Set(d, one.sine);
    const V half2 = hn::Set(d, two.half_tangent), s2 = hn::Set(d, two.sine);
    const std::size_t stride = t_.stride;
    double *const upper = t_.row(two.row), *const middle = upper + stride, *const lower = middle + stride;
    for (std::size_t j = 0; j < stride; j += hn::Lanes(d)) {
      V x = hn::Load(d, upper + j), y = hn::Load(d, middle + j), z = hn::Load(d, lower + j);
      turn(y, z, half, s);
      turn(x, y, half2, s2);
      hn::Store(z, d, lower + j);
      hn::Store(y, d, middle + j);
      hn::Store(x, d, upper + j);
    }
    made_ += 2;
  }

  const Tridiagonal& t_;
  std::array<Rotation, kPlaces> waiting_;
  std::size_t added_ = 0, made_ = 0;
};

HWY_INLINE double with_sign_of(double x, double y, double z) { return std::copysign(x, std::copysign(1.0, y) * z); }

// One sweep of the QL iteration over the rows l to m of a tridiagonal matrix T that is unreduced between them; t.off
// has the squares of what stands beside the diagonal, with its signs. Of T less the shift v is the determinant of the
// rows i to m, u that of the rows i + 1 to m, both in a unit that may change from row to row, and in its square sum =
// u² + rest for rest = b sum of the row below, b the square beside the diagonal: the rotation of rows i and i + 1 has
// the cosine |u| / √sum, what would be the sign of it having gone to the sine. These alone go from row to row, so that
// divisions and roots wait for nothing but each other. gamma is the last number of the diagonal of what has been
// turned, less the shift. Returns the smallest of the squares between rows l + 1 and m.
inline double sweep(const Tridiagonal& t, Rotations& rotations, std::size_t l, std::size_t m) {
  // b is more than (ε times the norm)² > 2⁻¹²⁴, so that sum is never below 2⁻⁴⁵⁶. A row, whose numbers are below 2 and
  // 1, makes determinants at most four times as large, and their squares 2⁴ times.
  constexpr double kSmall = 0x1p-332, kRoot = 0x1p166;
  static_assert(detail::kSmallEigen * 4 < 1000, "squares of determinants do not overflow");
  double *const diagonal = t.diagonal, *const off = t.off;
  const double half = 0.5 * (diagonal[l + 1] - diagonal[l]), square = std::abs(off[l]);
  const double shift = diagonal[l] - square / (half + std::copysign(std::sqrt(half * half + square), half));
  double u = 1, v = diagonal[m] - shift, sum = 1;
  double gamma = v, pi2 = v * v, sine2 = 0, sign = 1;  // pi2: v² / sum; sign: of the sine of the rotation before
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = m; i-- > l;) {
    const double b = std::abs(off[i]), next = (diagonal[i] - shift) * v - b * u;
    double rest = b * sum;
    u = v;
    v = next;
    sum = u * u + rest;
    if (sum < kSmall) {
      u *= kRoot;
      v *= kRoot;
      rest *= kRoot * kRoot;
      sum *= kRoot * kRoot;
    }
    if (i + 1 < m) {
      const double beside = sine2 * (pi2 + b);
      off[i + 1] = with_sign_of(beside, gamma, sign);
      smallest = std::min(smallest, beside);
    }
    sign = with_sign_of(1, gamma, off[i]);
    const double inverse = 1 / sum, gamma_before = gamma;
    gamma = u * v * inverse;
    pi2 = v * v * inverse;
    sine2 = rest * inverse;
    rotations.add(i, std::sqrt(u * u * inverse), std::copysign(std::sqrt(sine2), sign));
    diagonal[i + 1] = gamma_before + (diagonal[i] - gamma);
  }
  diagonal[l] = shift + gamma;
  off[l] = with_sign_of(sine2 * pi2, gamma, sign);
  return smallest;
}

/// T = Sᵀ diag(values) S: `diagonal` becomes the values, in no order, `off` next to nothing, and the rows of `vectors`
/// S times what they were. Returns whether the iteration converged.
inline bool ql(const Tridiagonal& t) {
  // What lies beside the diagonal and is below the rounding of the whole matrix is nothing: in a block that is rounding
  // alone, as that of a matrix of low rank, its neighbours on the diagonal are no larger, and it would never vanish.
  double norm = 0;
  for (std::size_t i = 0; i < t.n; ++i) norm = std::max({norm, std::abs(t.diagonal[i]), std::abs(t.off[i])});
  const double negligible = std::pow(std::numeric_limits<double>::epsilon() * norm, 2);
  for (std::size_t i = 0; i < t.n; ++i) t.off[i] *= std::abs(t.off[i]);
  Rotations rotations(t);
  std::size_t sweeps_left = 30 * t.n;  // two for each eigenvalue are usual
  for (std::size_t l = 0; l < t.n;) {
    std::size_t m = l;
    while (m + 1 < t.n && std::abs(t.off[m]) > negligible) ++m;
    bool whole = true;
    while (whole && l < m) {
      if (sweeps_left-- == 0) return false;
      whole = sweep(t, rotations, l, m) > negligible;
      l += whole && std::abs(t.off[l]) <= negligible ? 1 : 0;
    }
    if (l == m) ++l;
  }
  rotations.make_all();
  return true;
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
