// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/ops/column_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/column_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tocca::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = 32;  // rows

// Calls f(tag, j) for every whole vector of columns from j on, then for every column that is left.
template <class S, class F>
HWY_INLINE void for_columns(std::size_t d, F f) {
  const hn::ScalableTag<S> vector;
  const hn::CappedTag<S, 1> one;
  const std::size_t lanes = hn::Lanes(vector);
  std::size_t j = 0;
  for (; j + lanes <= d; j += lanes) f(vector, j);
  for (; j < d; ++j) f(one, j);
}

// Calls f(first, rows) for every block of rows.
template <class F>
HWY_INLINE void for_blocks(std::size_t m, F f) {
  for (std::size_t first = 0; first < m; first += kBlock) f(first, std::min(kBlock, m - first));
}

template <class S>
HWY_INLINE void clear(S* x, std::size_t d) {
  std::fill_n(x, d, S(0));
}

template <class S>
HWY_INLINE void add_to(S* sums, const S* x, std::size_t d) {
  for_columns<S>(d, [&](auto t, std::size_t j)
                        HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(t, sums + j), hn::LoadU(t, x + j)), t, sums + j); });
}

template <class S>
void sums(std::size_t m, std::size_t d, Rows<const S> x, S* total, S* scratch) {
  clear(total, d);
  for_blocks(m, [&](std::size_t first, std::size_t rows) HWY_ATTR {
    clear(scratch, d);
    for (std::size_t i = first; i < first + rows; ++i) add_to(scratch, x.at(i), d);
    add_to(total, scratch, d);
  });
}

// total, square: mean of the rows so far and sum of squared deviations from it; they become those with a block of
// `rows` more, of which scratch has the sum (d) and, behind it, place for the squares.
template <class S>
HWY_INLINE void merge_block(std::size_t before, std::size_t rows, std::size_t d, Rows<const S> x, S* mean, S* square,
                            S* scratch) {
  S* const block_square = scratch + d;
  const S share = S(1) / static_cast<S>(rows);
  for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(t, scratch + j), hn::Set(t, share)), t, scratch + j);
  });
  clear(block_square, d);
  for (std::size_t i = 0; i < rows; ++i) {
    const S* const row = x.at(i);
    for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
      const auto deviation = hn::Sub(hn::LoadU(t, row + j), hn::LoadU(t, scratch + j));
      hn::StoreU(hn::MulAdd(deviation, deviation, hn::LoadU(t, block_square + j)), t, block_square + j);
    });
  }
  const S all = static_cast<S>(before + rows);
  const S move = static_cast<S>(rows) / all;
  const S between = static_cast<S>(before) * static_cast<S>(rows) / all;
  for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
    const auto old = hn::LoadU(t, mean + j);
    const auto apart = hn::Sub(hn::LoadU(t, scratch + j), old);
    hn::StoreU(hn::MulAdd(hn::Set(t, move), apart, old), t, mean + j);
    const auto inside = hn::Add(hn::LoadU(t, square + j), hn::LoadU(t, block_square + j));
    hn::StoreU(hn::MulAdd(hn::Mul(apart, apart), hn::Set(t, between), inside), t, square + j);
  });
}

template <class S>
void divide_by(std::size_t m, std::size_t d, S* x) {
  const S share = S(1) / static_cast<S>(m);
  for_columns<S>(d, [&](auto t, std::size_t j)
                        HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(t, x + j), hn::Set(t, share)), t, x + j); });
}

template <class S>
void moments(std::size_t m, std::size_t d, Rows<const S> x, S* mean, S* variance, S* scratch) {
  clear(mean, d);
  clear(variance, d);
  for_blocks(m, [&](std::size_t first, std::size_t rows) HWY_ATTR {
    clear(scratch, d);
    for (std::size_t i = first; i < first + rows; ++i) add_to(scratch, x.at(i), d);
    merge_block(first, rows, d, Rows<const S>{x.at(first), x.stride}, mean, variance, scratch);
  });
  divide_by(m, d, variance);
}

template <class S>
void relu_and_moments(std::size_t m, std::size_t d, Rows<S> y, const S* bias, S* mean, S* variance, S* scratch) {
  clear(mean, d);
  clear(variance, d);
  for_blocks(m, [&](std::size_t first, std::size_t rows) HWY_ATTR {
    clear(scratch, d);
    for (std::size_t i = first; i < first + rows; ++i) {
      S* const row = y.at(i);
      for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
        const auto x = hn::Add(hn::LoadU(t, row + j), hn::LoadU(t, bias + j));
        // A NaN has to stay one: a maximum with 0 would hide it.
        const auto positive = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(t)), x);
        hn::StoreU(positive, t, row + j);
        hn::StoreU(hn::Add(hn::LoadU(t, scratch + j), positive), t, scratch + j);
      });
    }
    merge_block(first, rows, d, Rows<const S>{y.at(first), y.stride}, mean, variance, scratch);
  });
  divide_by(m, d, variance);
}

template <class S>
void normalize(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, const S* factor, const S* shift,
               Rows<S> out) {
  for (std::size_t i = 0; i < m; ++i) {
    const S* const from = x.at(i);
    S* const to = out.at(i);
    for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
      const auto centred = hn::Sub(hn::LoadU(t, from + j), hn::LoadU(t, mean + j));
      hn::StoreU(hn::MulAdd(centred, hn::LoadU(t, factor + j), hn::LoadU(t, shift + j)), t, to + j);
    });
  }
}

template <class S>
void products(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, Rows<const S> g, S* total,
              S* total_products, S* scratch) {
  S* const block_products = scratch + d;
  clear(total, d);
  clear(total_products, d);
  for_blocks(m, [&](std::size_t first, std::size_t rows) HWY_ATTR {
    clear(scratch, 2 * d);
    for (std::size_t i = first; i < first + rows; ++i) {
      const S* const row = x.at(i);
      const S* const gradient = g.at(i);
      for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
        const auto of_row = hn::LoadU(t, gradient + j);
        const auto centred = hn::Sub(hn::LoadU(t, row + j), hn::LoadU(t, mean + j));
        hn::StoreU(hn::Add(hn::LoadU(t, scratch + j), of_row), t, scratch + j);
        hn::StoreU(hn::MulAdd(of_row, centred, hn::LoadU(t, block_products + j)), t, block_products + j);
      });
    }
    add_to(total, scratch, d);
    add_to(total_products, block_products, d);
  });
}

template <class S>
void back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g) {
  for (std::size_t i = 0; i < m; ++i) {
    const S* const row = x.at(i);
    S* const gradient = g.at(i);
    for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
      const auto scaled = hn::MulSub(hn::LoadU(t, s + j), hn::LoadU(t, gradient + j), hn::LoadU(t, p + j));
      hn::StoreU(hn::NegMulAdd(hn::LoadU(t, q + j), hn::LoadU(t, row + j), scaled), t, gradient + j);
    });
  }
}

template <class S>
void relu_back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g, S* total,
               S* scratch) {
  clear(total, d);
  for_blocks(m, [&](std::size_t first, std::size_t rows) HWY_ATTR {
    clear(scratch, d);
    for (std::size_t i = first; i < first + rows; ++i) {
      const S* const row = x.at(i);
      S* const gradient = g.at(i);
      for_columns<S>(d, [&](auto t, std::size_t j) HWY_ATTR {
        const auto value = hn::LoadU(t, row + j);
        const auto scaled = hn::MulSub(hn::LoadU(t, s + j), hn::LoadU(t, gradient + j), hn::LoadU(t, p + j));
        const auto all = hn::NegMulAdd(hn::LoadU(t, q + j), value, scaled);
        const auto kept = hn::IfThenElseZero(hn::Gt(value, hn::Zero(t)), all);
        hn::StoreU(kept, t, gradient + j);
        hn::StoreU(hn::Add(hn::LoadU(t, scratch + j), kept), t, scratch + j);
      });
    }
    add_to(total, scratch, d);
  });
}

// Highway dispatches functions, not templates.
#define TOCCA_INSTANTIATE(S, NAME)                                                                                     \
  void sums_##NAME(std::size_t m, std::size_t d, Rows<const S> x, S* total, S* scratch) {                              \
    sums(m, d, x, total, scratch);                                                                                     \
  }                                                                                                                    \
  void moments_##NAME(std::size_t m, std::size_t d, Rows<const S> x, S* mean, S* variance, S* scratch) {               \
    moments(m, d, x, mean, variance, scratch);                                                                         \
  }                                                                                                                    \
  void relu_moments_##NAME(std::size_t m, std::size_t d, Rows<S> y, const S* bias, S* mean, S* variance, S* scratch) { \
    relu_and_moments(m, d, y, bias, mean, variance, scratch);                                                          \
  }                                                                                                                    \
  void normalize_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, const S* factor, const S* shift, \
                        Rows<S> out) {                                                                                 \
    normalize(m, d, x, mean, factor, shift, out);                                                                      \
  }                                                                                                                    \
  void products_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, Rows<const S> g, S* total,        \
                       S* total_products, S* scratch) {                                                                \
    products(m, d, x, mean, g, total, total_products, scratch);                                                        \
  }                                                                                                                    \
  void back_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g) {     \
    back(m, d, x, s, p, q, g);                                                                                         \
  }                                                                                                                    \
  void relu_back_##NAME(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g,  \
                        S* total, S* scratch) {                                                                        \
    relu_back(m, d, x, s, p, q, g, total, scratch);                                                                    \
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
  void column_sums(std::size_t m, std::size_t d, Rows<const S> x, S* sums, S* scratch) {                              \
    HWY_DYNAMIC_DISPATCH(sums_##NAME)(m, d, x, sums, scratch);                                                        \
  }                                                                                                                   \
  void column_moments(std::size_t m, std::size_t d, Rows<const S> x, S* mean, S* variance, S* scratch) {              \
    HWY_DYNAMIC_DISPATCH(moments_##NAME)(m, d, x, mean, variance, scratch);                                           \
  }                                                                                                                   \
  void relu_moments(std::size_t m, std::size_t d, Rows<S> y, const S* bias, S* mean, S* variance, S* scratch) {       \
    HWY_DYNAMIC_DISPATCH(relu_moments_##NAME)(m, d, y, bias, mean, variance, scratch);                                \
  }                                                                                                                   \
  void normalize_columns(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, const S* factor,               \
                         const S* shift, Rows<S> out) {                                                               \
    HWY_DYNAMIC_DISPATCH(normalize_##NAME)(m, d, x, mean, factor, shift, out);                                        \
  }                                                                                                                   \
  void column_products(std::size_t m, std::size_t d, Rows<const S> x, const S* mean, Rows<const S> g, S* sums,        \
                       S* products, S* scratch) {                                                                     \
    HWY_DYNAMIC_DISPATCH(products_##NAME)(m, d, x, mean, g, sums, products, scratch);                                 \
  }                                                                                                                   \
  void normalize_back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q, Rows<S> g) { \
    HWY_DYNAMIC_DISPATCH(back_##NAME)(m, d, x, s, p, q, g);                                                           \
  }                                                                                                                   \
  void relu_normalize_back(std::size_t m, std::size_t d, Rows<const S> x, const S* s, const S* p, const S* q,         \
                           Rows<S> g, S* sums, S* scratch) {                                                          \
    HWY_DYNAMIC_DISPATCH(relu_back_##NAME)(m, d, x, s, p, q, g, sums, scratch);                                       \
  }
TOCCA_DISPATCH(float, float)
TOCCA_DISPATCH(double, double)
#undef TOCCA_DISPATCH

}  // namespace tocca::detail
#endif
