// The update of all parameters, which at small batches costs as much memory traffic as the matrix products: compiled by
// Highway for each instruction set and chosen at run time, so that a binary for any x86-64 uses AVX2 or AVX-512.
#include "tocca/ops/nadam.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/nadam_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class S>
struct Arrays {
  S* parameters;
  const S* gradients;
  S* first;
  S* second;
};

// The elements from `begin` on that fill whole vectors of D; returns where they end.
template <class D, class S = hn::TFromD<D>>
std::size_t update_vectors(D d, const NadamOptions& options, const NadamCoefficients& c, double decay,
                           const Arrays<S>& a, std::size_t begin, std::size_t n) {
  const auto set = [&](double x) { return hn::Set(d, static_cast<S>(x)); };
  const auto b1 = set(options.beta1), new1 = set(1 - options.beta1);
  const auto b2 = set(options.beta2), new2 = set(1 - options.beta2);
  const auto cg = set(c.gradient), cm = set(c.moment), cv = set(c.second);
  const auto eps = set(options.epsilon), wd = set(decay);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = begin;
  for (; i + lanes <= n; i += lanes) {
    const auto p = hn::LoadU(d, a.parameters + i);
    const auto g = hn::MulAdd(wd, p, hn::LoadU(d, a.gradients + i));
    const auto m = hn::MulAdd(b1, hn::LoadU(d, a.first + i), hn::Mul(new1, g));
    const auto v = hn::MulAdd(b2, hn::LoadU(d, a.second + i), hn::Mul(new2, hn::Mul(g, g)));
    const auto step = hn::MulAdd(cg, g, hn::Mul(cm, m));
    hn::StoreU(m, d, a.first + i);
    hn::StoreU(v, d, a.second + i);
    hn::StoreU(hn::Sub(p, hn::Div(step, hn::Add(hn::Sqrt(hn::Mul(cv, v)), eps))), d, a.parameters + i);
  }
  return i;
}

template <class S>
void update(const NadamOptions& options, const NadamCoefficients& c, double decay, const Arrays<S>& a, std::size_t n) {
  const std::size_t done = update_vectors(hn::ScalableTag<S>(), options, c, decay, a, 0, n);
  update_vectors(hn::CappedTag<S, 1>(), options, c, decay, a, done, n);
}

void update_float(const NadamOptions& options, const NadamCoefficients& c, double decay, float* p, const float* g,
                  float* m, float* v, std::size_t n) {
  update<float>(options, c, decay, {p, g, m, v}, n);
}

void update_double(const NadamOptions& options, const NadamCoefficients& c, double decay, double* p, const double* g,
                   double* m, double* v, std::size_t n) {
  update<double>(options, c, decay, {p, g, m, v}, n);
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

HWY_EXPORT(update_float);
HWY_EXPORT(update_double);

template <>
void nadam_update<float>(const NadamOptions& options, const NadamCoefficients& coefficients, double decay,
                         std::span<float> parameters, std::span<const float> gradients, std::span<float> first_moments,
                         std::span<float> second_moments) {
  HWY_DYNAMIC_DISPATCH(update_float)
  (options, coefficients, decay, parameters.data(), gradients.data(), first_moments.data(), second_moments.data(),
   parameters.size());
}

template <>
void nadam_update<double>(const NadamOptions& options, const NadamCoefficients& coefficients, double decay,
                          std::span<double> parameters, std::span<const double> gradients,
                          std::span<double> first_moments, std::span<double> second_moments) {
  HWY_DYNAMIC_DISPATCH(update_double)
  (options, coefficients, decay, parameters.data(), gradients.data(), first_moments.data(), second_moments.data(),
   parameters.size());
}

}  // namespace tocca
#endif
