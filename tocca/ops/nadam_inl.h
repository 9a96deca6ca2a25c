/// The update of parameters whose gradient is there. Included by kernels that Highway compiles once for each
/// instruction set, hence no ordinary include guard.
#include "tocca/core/fixed_length_vectors.h"

#if defined(TOCCA_OPS_NADAM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOCCA_OPS_NADAM_INL_H
#undef TOCCA_OPS_NADAM_INL_H
#else
#define TOCCA_OPS_NADAM_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

#include "tocca/ops/nadam.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The constants of a step, as vectors. (gradient · g + moment · m)/(√(second · v) + ε) is computed with all divided by
/// √second: one multiplication less, and large moments do not overflow.
template <class D, class V = hn::Vec<D>>
struct Constants {
  V b1, new1, b2, new2, gradient, moment, epsilon, decay;

  Constants(D d, const NadamStep& s)
      : b1(set(d, s.options.beta1)),
        new1(set(d, 1 - s.options.beta1)),
        b2(set(d, s.options.beta2)),
        new2(set(d, 1 - s.options.beta2)),
        gradient(set(d, s.coefficients.gradient / std::sqrt(s.coefficients.second))),
        moment(set(d, s.coefficients.moment / std::sqrt(s.coefficients.second))),
        epsilon(set(d, s.options.epsilon / std::sqrt(s.coefficients.second))),
        decay(set(d, s.decay)) {}
  static V set(D d, double x) { return hn::Set(d, static_cast<hn::TFromD<D>>(x)); }
};

/// 1/x for x from 1e-37 on. Division takes several times as long as all else of an update together, and the processor's
/// own estimates differ from maker to maker: a guess from the exponent, right to 5 %, and three Newton steps, each
/// squaring that. From 1e30 on it is 0: a second moment that has overflowed stops its parameter.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::Div(hn::Set(d, 1), x);
  } else {
    const hn::RebindToUnsigned<D> bits;
    V r = hn::BitCast(d, hn::Sub(hn::Set(bits, 0x7EF311C7), hn::BitCast(bits, x)));
    for (int i = 0; i < 3; ++i) r = hn::Mul(r, hn::NegMulAdd(x, r, hn::Set(d, 2)));
    return hn::IfThenZeroElse(hn::Ge(x, hn::Set(d, 1e30F)), r);
  }
}

/// One vector of parameters p with gradient g and moments m, v.
template <class D, class S = hn::TFromD<D>, class V = hn::Vec<D>>
HWY_INLINE void update_vector(D d, const Constants<D>& c, V gradient, S* p, S* m, S* v) {
  const V old = hn::LoadU(d, p);
  const V g = hn::MulAdd(c.decay, old, gradient);
  const V first = hn::MulAdd(c.b1, hn::LoadU(d, m), hn::Mul(c.new1, g));
  const V second = hn::MulAdd(c.b2, hn::LoadU(d, v), hn::Mul(c.new2, hn::Mul(g, g)));
  const V step = hn::MulAdd(c.gradient, g, hn::Mul(c.moment, first));
  hn::StoreU(first, d, m);
  hn::StoreU(second, d, v);
  const V scale = reciprocal(d, hn::Add(hn::Sqrt(second), c.epsilon));
  hn::StoreU(hn::NegMulAdd(step, scale, old), d, p);
}

/// The elements from `begin` on that fill whole vectors of D; returns where they end.
template <class D, class F, class S = hn::TFromD<D>>
std::size_t update_vectors(D d, const NadamStep& step, const NadamArrays<S>& a, const S* gradients, std::size_t begin,
                           std::size_t n, F& fetch) {
  const Constants<D> c(d, step);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = begin;
  for (; i + lanes <= n; i += lanes) {
    fetch.next();
    update_vector(d, c, hn::LoadU(d, gradients + i), a.parameters + i, a.first + i, a.second + i);
  }
  return i;
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
