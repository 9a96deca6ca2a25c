// The update of the parameters, compiled by Highway for each instruction set and chosen at run time, so that a binary
// for any x86-64 uses AVX2 or AVX-512. At small batches the update costs as much memory traffic as the matrix products.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "tocca/ops/nadam.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/nadam_kernel.cpp"
// The tiles are arrays of vectors, which vectors of a length unknown to the compiler cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
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

// Columns first ... first + width − 1 of dy, packed so that the samples' pieces lie one behind the other: a tile then
// reads dy in a straight line, from the fastest cache.
template <class S>
struct Panel {
  std::vector<S> values;  // (samples × width)
  std::size_t first, width;

  Panel(const OuterProduct<S>& g, std::size_t begin, std::size_t count)
      : values(g.samples * count), first(begin), width(count) {
    for (std::size_t k = 0; k < g.samples; ++k) {
      std::copy_n(g.dy + k * g.dy_stride + begin, count, values.data() + k * count);
    }
  }
};

// kRows × kVectors vectors of the gradient xᵀ dy stay in registers and go straight into the update. `column` counts
// from the panel's first.
template <int kRows, int kVectors, class D, class S = hn::TFromD<D>>
HWY_INLINE void update_tile(D d, const Constants<D>& c, const OuterProduct<S>& g, const Panel<S>& panel,
                            const NadamArrays<S>& a, std::size_t row, std::size_t column) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int q = 0; q < kVectors; ++q) sum[r][q] = hn::Zero(d);
  }
  for (std::size_t k = 0; k < g.samples; ++k) {
    const S* const x = g.x + k * g.x_stride + row;
    const S* const dy = panel.values.data() + k * panel.width + column;
    hn::Vec<D> y[kVectors];
    for (int q = 0; q < kVectors; ++q) y[q] = hn::LoadU(d, dy + q * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto xr = hn::Set(d, x[r]);
      for (int q = 0; q < kVectors; ++q) sum[r][q] = hn::MulAdd(xr, y[q], sum[r][q]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int q = 0; q < kVectors; ++q) {
      const std::size_t at = (row + r) * g.columns + panel.first + column + q * lanes;
      update_vector(d, c, sum[r][q], a.parameters + at, a.first + at, a.second + at);
    }
  }
}

// kRows rows of a panel, in tiles of three vectors, then one, then single numbers.
template <int kRows, class S>
void update_rows(const NadamStep& step, const OuterProduct<S>& g, const Panel<S>& panel, const NadamArrays<S>& a,
                 std::size_t row) {
  const hn::ScalableTag<S> d;
  const hn::CappedTag<S, 1> one;
  const Constants<std::remove_cv_t<decltype(d)>> c(d, step);
  const Constants<std::remove_cv_t<decltype(one)>> c1(one, step);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + 3 * lanes <= panel.width; j += 3 * lanes) update_tile<kRows, 3>(d, c, g, panel, a, row, j);
  for (; j + lanes <= panel.width; j += lanes) update_tile<kRows, 1>(d, c, g, panel, a, row, j);
  for (; j < panel.width; ++j) update_tile<kRows, 1>(one, c1, g, panel, a, row, j);
}

template <class S>
void update_outer(const NadamStep& step, const OuterProduct<S>& g, const NadamArrays<S>& a) {
  constexpr std::size_t kPanelTiles = 6;
  const std::size_t widest = kPanelTiles * 3 * hn::Lanes(hn::ScalableTag<S>());
  for (std::size_t first = 0; first < g.columns; first += widest) {
    const Panel<S> panel(g, first, std::min(widest, g.columns - first));
    std::size_t row = 0;
    for (; row + 4 <= g.rows; row += 4) update_rows<4>(step, g, panel, a, row);
    for (; row < g.rows; ++row) update_rows<1>(step, g, panel, a, row);
  }
}

// Highway dispatches functions, not templates.
void update_float(const NadamStep& step, const NadamArrays<float>& a, const float* gradients, std::size_t n) {
  update(step, a, gradients, n);
}
void update_double(const NadamStep& step, const NadamArrays<double>& a, const double* gradients, std::size_t n) {
  update(step, a, gradients, n);
}
void update_outer_float(const NadamStep& step, const OuterProduct<float>& g, const NadamArrays<float>& a) {
  update_outer(step, g, a);
}
void update_outer_double(const NadamStep& step, const OuterProduct<double>& g, const NadamArrays<double>& a) {
  update_outer(step, g, a);
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

void nadam_update(const NadamStep& step, const NadamArrays<float>& arrays, const OuterProduct<float>& gradient) {
  HWY_DYNAMIC_DISPATCH(update_outer_float)(step, gradient, arrays);
}

void nadam_update(const NadamStep& step, const NadamArrays<double>& arrays, const OuterProduct<double>& gradient) {
  HWY_DYNAMIC_DISPATCH(update_outer_double)(step, gradient, arrays);
}

}  // namespace tocca
#endif
