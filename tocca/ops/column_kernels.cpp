// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/ops/column_kernels.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/column_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tocca::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = 32;  // rows
constexpr std::size_t kStrip = 3;   // vectors of columns whose sums stay in registers

// What is kept of a strip of columns, a vector each.
template <class D, std::size_t kVectors>
struct Strip {
  using S = hn::TFromD<D>;
  hn::Vec<D> v[kVectors];

  static HWY_INLINE Strip zero(D d) {
    Strip s;
    for (std::size_t q = 0; q < kVectors; ++q) s.v[q] = hn::Zero(d);
    return s;
  }
  static HWY_INLINE Strip load(D d, const S* from) {
    Strip s;
    for (std::size_t q = 0; q < kVectors; ++q) s.v[q] = hn::LoadU(d, from + q * hn::Lanes(d));
    return s;
  }
  // to ← to + this.
  HWY_INLINE void add_to(D d, S* to) const {
    for (std::size_t q = 0; q < kVectors; ++q) {
      hn::StoreU(hn::Add(hn::LoadU(d, to + q * hn::Lanes(d)), v[q]), d, to + q * hn::Lanes(d));
    }
  }
};

// Calls f(tag, number of vectors, first column) for strips of columns, in the end for single vectors and columns.
template <class S, class F>
HWY_INLINE void for_strips(std::size_t d, F f) {
  const hn::ScalableTag<S> vector;
  const hn::CappedTag<S, 1> one;
  const std::size_t lanes = hn::Lanes(vector);
  std::size_t j = 0;
  for (; j + kStrip * lanes <= d; j += kStrip * lanes) f(vector, std::integral_constant<std::size_t, kStrip>(), j);
  for (; j + lanes <= d; j += lanes) f(vector, std::integral_constant<std::size_t, 1>(), j);
  for (; j < d; ++j) f(one, std::integral_constant<std::size_t, 1>(), j);
}

// Calls f(tag, number of vectors, first column, first row, rows) for every strip of every block of rows.
template <class S, class F>
HWY_INLINE void for_blocks(std::size_t m, std::size_t d, F f) {
  for (std::size_t first = 0; first < m; first += kBlock) {
    const std::size_t rows = std::min(kBlock, m - first);
    for_strips<S>(d, [&](auto t, auto vectors, std::size_t j) HWY_ATTR { f(t, vectors, j, first, rows); });
  }
}

template <class S>
HWY_INLINE void clear(S* x, std::size_t d) {
  std::fill_n(x, d, S(0));
}

// The sums of `rows` rows.
template <std::size_t kVectors, class D, class S = hn::TFromD<D>>
HWY_INLINE Strip<D, kVectors> sum_of(D t, Rows<const S> x, std::size_t rows) {
  auto sum = Strip<D, kVectors>::zero(t);
  for (std::size_t i = 0; i < rows; ++i) {
    const S* const row = x.at(i);
    for (std::size_t q = 0; q < kVectors; ++q) sum.v[q] = hn::Add(sum.v[q], hn::LoadU(t, row + q * hn::Lanes(t)));
  }
  return sum;
}

template <class S>
void sums(std::size_t m, std::size_t d, Rows<const S> x, S* total) {
  clear(total, d);
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    sum_of<decltype(vectors)::value>(t, Rows<const S>{x.at(first, j), x.stride}, rows).add_to(t, total + j);
  });
}

// mean, square: mean of the rows before and sum of squared deviations from it; they become those with a block of `rows`
// more from x on, whose sum is `sum`.
template <std::size_t kVectors, class D, class S = hn::TFromD<D>>
HWY_INLINE void merge_block(D t, std::size_t before, std::size_t rows, Rows<const S> x, Strip<D, kVectors> sum, S* mean,
                            S* square) {
  const auto share = hn::Set(t, S(1) / static_cast<S>(rows));
  for (std::size_t q = 0; q < kVectors; ++q) sum.v[q] = hn::Mul(sum.v[q], share);
  auto block_square = Strip<D, kVectors>::zero(t);
  for (std::size_t i = 0; i < rows; ++i) {
    const S* const row = x.at(i);
    for (std::size_t q = 0; q < kVectors; ++q) {
      const auto deviation = hn::Sub(hn::LoadU(t, row + q * hn::Lanes(t)), sum.v[q]);
      block_square.v[q] = hn::MulAdd(deviation, deviation, block_square.v[q]);
    }
  }
  const S all = static_cast<S>(before + rows);
  const auto move = hn::Set(t, static_cast<S>(rows) / all);
  const auto between = hn::Set(t, static_cast<S>(before) * static_cast<S>(rows) / all);
  for (std::size_t q = 0; q < kVectors; ++q) {
    S* const to_mean = mean + q * hn::Lanes(t);
    S* const to_square = square + q * hn::Lanes(t);
    const auto old = hn::LoadU(t, to_mean);
    const auto apart = hn::Sub(sum.v[q], old);
    hn::StoreU(hn::MulAdd(move, apart, old), t, to_mean);
    const auto inside = hn::Add(hn::LoadU(t, to_square), block_square.v[q]);
    hn::StoreU(hn::MulAdd(hn::Mul(apart, apart), between, inside), t, to_square);
  }
}

template <class S>
void divide_by(std::size_t m, std::size_t d, S* x) {
  const S share = S(1) / static_cast<S>(m);
  for (std::size_t j = 0; j < d; ++j) x[j] *= share;
}

template <class S>
void moments(std::size_t m, std::size_t d, Rows<const S> x, S* mean, S* variance) {
  clear(mean, d);
  clear(variance, d);
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value;
    const Rows<const S> block{x.at(first, j), x.stride};
    merge_block<kVectors>(t, first, rows, block, sum_of<kVectors>(t, block, rows), mean + j, variance + j);
  });
  divide_by(m, d, variance);
}

template <class S>
void relu_and_moments(std::size_t m, std::size_t d, Rows<S> y, const S* bias, S* mean, S* variance) {
  clear(mean, d);
  clear(variance, d);
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value;
    using Columns = Strip<decltype(t), kVectors>;
    const auto b = Columns::load(t, bias + j);
    auto sum = Columns::zero(t);
    for (std::size_t i = first; i < first + rows; ++i) {
      S* const row = y.at(i, j);
      for (std::size_t q = 0; q < kVectors; ++q) {
        const auto x = hn::Add(hn::LoadU(t, row + q * hn::Lanes(t)), b.v[q]);
        // A NaN has to stay one: a maximum with 0 would hide it.
        const auto positive = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(t)), x);
        hn::StoreU(positive, t, row + q * hn::Lanes(t));
        sum.v[q] = hn::Add(sum.v[q], positive);
      }
    }
    merge_block<kVectors>(t, first, rows, Rows<const S>{y.at(first, j), y.stride}, sum, mean + j, variance + j);
  });
  divide_by(m, d, variance);
}

template <class S>
void normalize(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, const S* factor, const S* shift,
               Rows<S> out) {
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value;
    using Columns = Strip<decltype(t), kVectors>;
    const auto centre = Columns::load(t, mean + j), scale = Columns::load(t, factor + j);
    const auto offset = Columns::load(t, shift + j);
    for (std::size_t i = first; i < first + rows; ++i) {
      const S* const from = x.at(i, j);
      S* const to = out.at(i, j);
      for (std::size_t q = 0; q < kVectors; ++q) {
        const auto centred = hn::Sub(hn::LoadU(t, from + q * hn::Lanes(t)), centre.v[q]);
        hn::StoreU(hn::MulAdd(centred, scale.v[q], offset.v[q]), t, to + q * hn::Lanes(t));
      }
    }
  });
}

template <class S>
void products(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, Rows<const S> g, S* total,
              S* total_products) {
  clear(total, d);
  clear(total_products, d);
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value;
    using Columns = Strip<decltype(t), kVectors>;
    const auto centre = Columns::load(t, mean + j);
    auto sum = Columns::zero(t), products = Columns::zero(t);
    for (std::size_t i = first; i < first + rows; ++i) {
      const S* const row = x.at(i, j);
      const S* const gradient = g.at(i, j);
      for (std::size_t q = 0; q < kVectors; ++q) {
        const auto of_row = hn::LoadU(t, gradient + q * hn::Lanes(t));
        const auto centred = hn::Sub(hn::LoadU(t, row + q * hn::Lanes(t)), centre.v[q]);
        sum.v[q] = hn::Add(sum.v[q], of_row);
        products.v[q] = hn::MulAdd(of_row, centred, products.v[q]);
      }
    }
    sum.add_to(t, total + j);
    products.add_to(t, total_products + j);
  });
}

template <class S>
void back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g) {
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value;
    using Columns = Strip<decltype(t), kVectors>;
    const auto of_g = Columns::load(t, s + j), offset = Columns::load(t, p + j), of_x = Columns::load(t, q + j);
    for (std::size_t i = first; i < first + rows; ++i) {
      const S* const row = x.at(i, j);
      S* const gradient = g.at(i, j);
      for (std::size_t k = 0; k < kVectors; ++k) {
        const std::size_t at = k * hn::Lanes(t);
        const auto scaled = hn::MulSub(of_g.v[k], hn::LoadU(t, gradient + at), offset.v[k]);
        hn::StoreU(hn::NegMulAdd(of_x.v[k], hn::LoadU(t, row + at), scaled), t, gradient + at);
      }
    }
  });
}

template <class S>
void relu_back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g, S* total) {
  clear(total, d);
  for_blocks<S>(m, d, [&](auto t, auto vectors, std::size_t j, std::size_t first, std::size_t rows) HWY_ATTR {
    constexpr std::size_t kVectors = decltype(vectors)::value;
    using Columns = Strip<decltype(t), kVectors>;
    const auto of_g = Columns::load(t, s + j), offset = Columns::load(t, p + j), of_x = Columns::load(t, q + j);
    auto sum = Columns::zero(t);
    for (std::size_t i = first; i < first + rows; ++i) {
      const S* const row = x.at(i, j);
      S* const gradient = g.at(i, j);
      for (std::size_t k = 0; k < kVectors; ++k) {
        const std::size_t at = k * hn::Lanes(t);
        const auto value = hn::LoadU(t, row + at);
        const auto scaled = hn::MulSub(of_g.v[k], hn::LoadU(t, gradient + at), offset.v[k]);
        const auto all = hn::NegMulAdd(of_x.v[k], value, scaled);
        const auto kept = hn::IfThenElseZero(hn::Gt(value, hn::Zero(t)), all);
        hn::StoreU(kept, t, gradient + at);
        sum.v[k] = hn::Add(sum.v[k], kept);
      }
    }
    sum.add_to(t, total + j);
  });
}

// Highway dispatches functions, not templates.
#define TOCCA_INSTANTIATE(S, NAME)                                                                                     \
  void sums_##NAME(std::size_t m, std::size_t d, Rows<const S> x, S* total) { sums(m, d, x, total); }                  \
  void moments_##NAME(std::size_t m, std::size_t d, Rows<const S> x, S* mean, S* variance) {                           \
    moments(m, d, x, mean, variance);                                                                                  \
  }                                                                                                                    \
  void relu_moments_##NAME(std::size_t m, std::size_t d, Rows<S> y, const S* bias, S* mean, S* variance) {             \
    relu_and_moments(m, d, y, bias, mean, variance);                                                                   \
  }                                                                                                                    \
  void normalize_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, const S* factor, const S* shift, \
                        Rows<S> out) {                                                                                 \
    normalize(m, d, x, mean, factor, shift, out);                                                                      \
  }                                                                                                                    \
  void products_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, Rows<const S> g, S* total,        \
                       S* total_products) {                                                                            \
    products(m, d, x, mean, g, total, total_products);                                                                 \
  }                                                                                                                    \
  void back_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g) {     \
    back(m, d, x, s, p, q, g);                                                                                         \
  }                                                                                                                    \
  void relu_back_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g,  \
                        S* total) {                                                                                    \
    relu_back(m, d, x, s, p, q, g, total);                                                                             \
  }
TOCCA_INSTANTIATE(float, float)
TOCCA_INSTANTIATE(double, double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca::detail {

#define TOCCA_DISPATCH(S, NAME)                                                                                       \
  HWY_EXPORT(sums_##NAME);                                                                                            \
  HWY_EXPORT(moments_##NAME);                                                                                         \
  HWY_EXPORT(relu_moments_##NAME);                                                                                    \
  HWY_EXPORT(normalize_##NAME);                                                                                       \
  HWY_EXPORT(products_##NAME);                                                                                        \
  HWY_EXPORT(back_##NAME);                                                                                            \
  HWY_EXPORT(relu_back_##NAME);                                                                                       \
  void column_sums(std::size_t m, std::size_t d, Rows<const S> x, S* sums) {                                          \
    HWY_DYNAMIC_DISPATCH(sums_##NAME)(m, d, x, sums);                                                                 \
  }                                                                                                                   \
  void column_moments(std::size_t m, std::size_t d, Rows<const S> x, S* mean, S* variance) {                          \
    HWY_DYNAMIC_DISPATCH(moments_##NAME)(m, d, x, mean, variance);                                                    \
  }                                                                                                                   \
  void relu_moments(std::size_t m, std::size_t d, Rows<S> y, const S* bias, S* mean, S* variance) {                   \
    HWY_DYNAMIC_DISPATCH(relu_moments_##NAME)(m, d, y, bias, mean, variance);                                         \
  }                                                                                                                   \
  void normalize_columns(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, const S* factor,               \
                         const S* shift, Rows<S> out) {                                                               \
    HWY_DYNAMIC_DISPATCH(normalize_##NAME)(m, d, x, mean, factor, shift, out);                                        \
  }                                                                                                                   \
  void column_products(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, Rows<const S> g, S* sums,        \
                       S* products) {                                                                                 \
    HWY_DYNAMIC_DISPATCH(products_##NAME)(m, d, x, mean, g, sums, products);                                          \
  }                                                                                                                   \
  void normalize_back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g) { \
    HWY_DYNAMIC_DISPATCH(back_##NAME)(m, d, x, s, p, q, g);                                                           \
  }                                                                                                                   \
  void relu_normalize_back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q,         \
                           Rows<S> g, S* sums) {                                                                      \
    HWY_DYNAMIC_DISPATCH(relu_back_##NAME)(m, d, x, s, p, q, g, sums);                                                \
  }
TOCCA_DISPATCH(float, float)
TOCCA_DISPATCH(double, double)
#undef TOCCA_DISPATCH

}  // namespace tocca::detail
#endif
