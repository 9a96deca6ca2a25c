// The update of the parameters, compiled by Highway for each instruction set and chosen at run time, so that a binary
// for any x86-64 uses AVX2 or AVX-512. At small batches the update costs as much memory traffic as the matrix products.
#include <algorithm>
#include <type_traits>

#include "tocca/core/fixed_length_vectors.h"
#include "tocca/ops/nadam.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/nadam_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The constants of a step, as vectors.
template <class D, class V = hn::Vec<D>>
struct Constants {
  V b1, new1, b2, new2, gradient, moment, second, epsilon, decay;

  Constants(D d, const NadamStep& s)
      : b1(set(d, s.options.beta1)),
        new1(set(d, 1 - s.options.beta1)),
        b2(set(d, s.options.beta2)),
        new2(set(d, 1 - s.options.beta2)),
        gradient(set(d, s.coefficients.gradient)),
        moment(set(d, s.coefficients.moment)),
        second(set(d, s.coefficients.second)),
        epsilon(set(d, s.options.epsilon)),
        decay(set(d, s.decay)) {}
  static V set(D d, double x) { return hn::Set(d, static_cast<hn::TFromD<D>>(x)); }
};

// One vector of parameters p with gradient g and moments m, v.
template <class D, class S = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void update_vector(D d, const Constants<D>& c, V gradient, S* p, S* m, S* v) {
  const V old = hn::LoadU(d, p);
  const V g = hn::MulAdd(c.decay, old, gradient);
  const V first = hn::MulAdd(c.b1, hn::LoadU(d, m), hn::Mul(c.new1, g));
  const V second = hn::MulAdd(c.b2, hn::LoadU(d, v), hn::Mul(c.new2, hn::Mul(g, g)));
  const V step = hn::MulAdd(c.gradient, g, hn::Mul(c.moment, first));
  hn::StoreU(first, d, m);
  hn::StoreU(second, d, v);
  hn::StoreU(hn::Sub(old, hn::Div(step, hn::Add(hn::Sqrt(hn::Mul(c.second, second)), c.epsilon))), d, p);
}

// The elements from `begin` on that fill whole vectors of D; returns where they end.
template <class D, class S = hn::TFromD<D>>
std::size_t update_vectors(D d, const NadamStep& step, const NadamArrays<S>& a, const S* gradients, std::size_t begin,
                           std::size_t n) {
  const Constants<D> c(d, step);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = begin;
  for (; i + lanes <= n; i += lanes) {
    update_vector(d, c, hn::LoadU(d, gradients + i), a.parameters + i, a.first + i, a.second + i);
  }
  return i;
}

template <class S>
void update(const NadamStep& step, const NadamArrays<S>& a, const S* gradients, std::size_t n) {
  const std::size_t done = update_vectors(hn::ScalableTag<S>(), step, a, gradients, 0, n);
  update_vectors(hn::CappedTag<S, 1>(), step, a, gradients, done, n);
}

// A tile of the gradient is kRows × kVectors vectors: with those of dy and one of x they fill the registers of AVX2.
constexpr std::size_t kRows = 4;
constexpr std::size_t kVectors = 3;

template <class S>
S* pack(S* out, const S* from, std::size_t stride, std::size_t samples, std::size_t count, std::size_t width) {
  for (std::size_t k = 0; k < samples; ++k) {
    out = std::fill_n(std::copy_n(from + k * stride, count, out), width - count, S(0));
  }
  return out;
}

// x in groups of kRows columns and dy in panels of kVectors vectors, each sample's piece right behind that of the one
// before: a tile then reads both in a straight line. What does not fill a group or a panel is followed by zeros.
template <class S>
void pack(const OuterProduct<S>& g, std::size_t width, OuterScratch<S>& scratch) {
  scratch.x.resize((g.rows + kRows - 1) / kRows * kRows * g.samples);
  scratch.dy.resize((g.columns + width - 1) / width * width * g.samples);
  scratch.gradient.resize(kRows * g.columns);
  S* out = scratch.x.data();
  std::size_t first = 0;
  for (; first + kRows <= g.rows; first += kRows) {
    for (std::size_t k = 0; k < g.samples; ++k) {
      for (std::size_t r = 0; r < kRows; ++r) *out++ = g.x[k * g.x_stride + first + r];
    }
  }
  if (first < g.rows) pack(out, g.x + first, g.x_stride, g.samples, g.rows - first, kRows);
  out = scratch.dy.data();
  for (first = 0; first < g.columns; first += width) {
    out = pack(out, g.dy + first, g.dy_stride, g.samples, std::min(width, g.columns - first), width);
  }
}

// Fetches parameters and moments that come next into the second-level cache, a few lines a call: a burst would hold up
// what the tiles read.
template <class S>
class FetchAhead {
 public:
  FetchAhead(const NadamArrays<S>& a, std::size_t begin, std::size_t end, std::size_t calls)
      : a_(a), next_(begin), end_(end), share_((end - begin) / (kLine * calls) + 1) {}

  HWY_INLINE void next() {
    for (std::size_t i = 0; i < share_ && next_ < end_; ++i, next_ += kLine) {
      __builtin_prefetch(a_.parameters + next_, 1, 2);
      __builtin_prefetch(a_.first + next_, 1, 2);
      __builtin_prefetch(a_.second + next_, 1, 2);
    }
  }

 private:
  static constexpr std::size_t kLine = 64 / sizeof(S);
  const NadamArrays<S>& a_;
  std::size_t next_, end_, share_;
};

// A tile of the gradient xᵀ dy: x (samples × kRows) and dy (samples × kVectors vectors) are packed, out has rows of
// `stride`.
template <class D, class S = hn::TFromD<D>>
HWY_INLINE void outer_tile(D d, const S* x, const S* dy, std::size_t samples, S* out, std::size_t stride) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t q = 0; q < kVectors; ++q) sum[r][q] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < samples; ++k) {
    hn::Vec<D> y[kVectors];
    for (std::size_t q = 0; q < kVectors; ++q) y[q] = hn::LoadU(d, dy + q * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto xr = hn::Set(d, x[r]);
      for (std::size_t q = 0; q < kVectors; ++q) sum[r][q] = hn::MulAdd(xr, y[q], sum[r][q]);
    }
    x += kRows;
    dy += kVectors * lanes;
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t q = 0; q < kVectors; ++q) hn::StoreU(sum[r][q], d, out + r * stride + q * lanes);
  }
}

// The gradient is computed kRows rows at a time, which stay in the first-level cache until they are used up.
template <class S>
void update_outer(const NadamStep& step, const OuterProduct<S>& g, const NadamArrays<S>& a, OuterScratch<S>& scratch) {
  const hn::ScalableTag<S> d;
  const std::size_t width = kVectors * hn::Lanes(d);
  const std::size_t panels = (g.columns + width - 1) / width;
  if (g.rows == 0 || g.columns == 0) return;
  alignas(64) S part[kRows * kVectors * HWY_MAX_BYTES / sizeof(S)];
  pack(g, width, scratch);
  S* const gradient = scratch.gradient.data();
  for (std::size_t row = 0; row < g.rows; row += kRows) {
    const std::size_t end = std::min(row + kRows, g.rows);
    FetchAhead<S> ahead(a, end * g.columns, std::min(end + kRows, g.rows) * g.columns, panels);
    const S* const x = scratch.x.data() + row * g.samples;
    for (std::size_t p = 0; p < panels; ++p) {
      ahead.next();
      const S* const dy = scratch.dy.data() + p * width * g.samples;
      if ((p + 1) * width <= g.columns) {
        outer_tile(d, x, dy, g.samples, gradient + p * width, g.columns);
        continue;
      }
      outer_tile(d, x, dy, g.samples, part, width);
      for (std::size_t r = 0; r < kRows; ++r) {
        std::copy_n(part + r * width, g.columns - p * width, gradient + r * g.columns + p * width);
      }
    }
    const std::size_t at = row * g.columns;
    update(step, NadamArrays<S>{a.parameters + at, a.first + at, a.second + at}, gradient, (end - row) * g.columns);
  }
}

// Highway dispatches functions, not templates.
void update_float(const NadamStep& step, const NadamArrays<float>& a, const float* gradients, std::size_t n) {
  update(step, a, gradients, n);
}
void update_double(const NadamStep& step, const NadamArrays<double>& a, const double* gradients, std::size_t n) {
  update(step, a, gradients, n);
}
void update_outer_float(const NadamStep& step, const OuterProduct<float>& g, const NadamArrays<float>& a,
                        OuterScratch<float>& scratch) {
  update_outer(step, g, a, scratch);
}
void update_outer_double(const NadamStep& step, const OuterProduct<double>& g, const NadamArrays<double>& a,
                         OuterScratch<double>& scratch) {
  update_outer(step, g, a, scratch);
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

HWY_EXPORT(update_float);
HWY_EXPORT(update_double);
HWY_EXPORT(update_outer_float);
HWY_EXPORT(update_outer_double);

void nadam_update(const NadamStep& step, const NadamArrays<float>& arrays, std::span<const float> gradients) {
  HWY_DYNAMIC_DISPATCH(update_float)(step, arrays, gradients.data(), gradients.size());
}

void nadam_update(const NadamStep& step, const NadamArrays<double>& arrays, std::span<const double> gradients) {
  HWY_DYNAMIC_DISPATCH(update_double)(step, arrays, gradients.data(), gradients.size());
}

void nadam_update(const NadamStep& step, const NadamArrays<float>& arrays, const OuterProduct<float>& gradient,
                  OuterScratch<float>& scratch) {
  HWY_DYNAMIC_DISPATCH(update_outer_float)(step, gradient, arrays, scratch);
}

void nadam_update(const NadamStep& step, const NadamArrays<double>& arrays, const OuterProduct<double>& gradient,
                  OuterScratch<double>& scratch) {
  HWY_DYNAMIC_DISPATCH(update_outer_double)(step, gradient, arrays, scratch);
}

}  // namespace tocca
#endif
