// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/blocked.h"

#include <algorithm>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/blocked.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/tile_inl.h"
#include "tocca/linalg/transposed_tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::Product;

// Where they were measured to be faster: with AVX-512 always, with AVX2 for short sums.
bool is_faster(std::size_t k) { return HWY_MAX_BYTES >= 64 || (HWY_MAX_BYTES == 32 && k <= 256); }

// Two panels of B with sums of up to so many terms are packed at a time: 192 kilobytes with AVX-512, half of that
// before. They lie on the stack and stay in the second-level cache while all rows of A pass over them.
constexpr std::size_t kDepth = 512, kPanels = 2;
// So many rows pass over all packed panels before the next ones do, and are read from memory once.
constexpr std::size_t kRows = 48;

// C ← α A op(B). `pack` lays down `count` numbers from `first` on of a panel of op(B).
template <class D, class Pack, class S = hn::TFromD<D>>
void multiply_blocks(D d, const Product<S>& p, const Pack& pack) {
  constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(S);
  HWY_ALIGN S packed[kPanels * 3 * kLanes * kDepth];
  // Blocks of equal depth.
  const std::size_t depth = divide_up(p.k, divide_up(p.k, kDepth));
  Panels panels(p.n, hn::Lanes(d));
  Panel group[kPanels];
  for (std::size_t size = 0;; size = 0) {
    while (size < kPanels && panels.next(group[size])) ++size;
    if (size == 0) return;
    for (std::size_t first = 0; first < p.k; first += depth) {
      const std::size_t count = std::min(depth, p.k - first);
      S* out = packed;
      for (std::size_t i = 0; i < size; out += group[i++].full * count) pack(group[i], first, count, out);
      for (std::size_t row = 0; row < p.m; row += kRows) {
        const std::size_t rows = std::min(kRows, p.m - row), next = row + rows;
        const ByRows<S> block{p.a.at(row, first), p.a.stride};
        FetchBlock fetch(p.a.at(next, first), p.a.stride * sizeof(S), count * sizeof(S), std::min(kRows, p.m - next));
        const S* panel = packed;
        for (std::size_t i = 0; i < size; ++i) {
          const Panel& q = group[i];
          put_panel(d, q.vectors, rows, count, block, panel, q.full,
                    TileTarget<S>{{p.c.at(row, q.first), p.c.stride}, q.width, p.alpha, p.add || first > 0}, fetch);
          panel += q.full * count;
        }
      }
    }
  }
}

template <class S>
void a_b(const Product<S>& p) {
  const hn::ScalableTag<S> d;
  multiply_blocks(d, p, [&](const Panel& q, std::size_t first, std::size_t count, S* out) {
    pack_columns(d, Rows<const S>{p.b.at(first, q.first), p.b.stride}, count, q.width, q.full, out);
  });
}

template <class S>
void a_bt(const Product<S>& p) {
  const hn::ScalableTag<S> d;
  multiply_blocks(d, p, [&](const Panel& q, std::size_t first, std::size_t count, S* out) {
    pack_rows(d, Rows<const S>{p.b.at(q.first, first), p.b.stride}, count, q.width, q.full, out);
  });
}

// Highway dispatches functions, not templates.
#define TOCCA_PRODUCT(name, S) \
  void blocked_##name##_##S(const Product<S>& product) { name<S>(product); }
TOCCA_PRODUCT(a_b, float)
TOCCA_PRODUCT(a_b, double)
TOCCA_PRODUCT(a_bt, float)
TOCCA_PRODUCT(a_bt, double)
#undef TOCCA_PRODUCT

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

HWY_EXPORT(is_faster);
bool detail::blocked_is_faster(std::size_t k) { return HWY_DYNAMIC_DISPATCH(is_faster)(k); }

#define TOCCA_PRODUCT(name, S)                                     \
  HWY_EXPORT(blocked_##name##_##S);                                \
  void detail::blocked_##name(const detail::Product<S>& product) { \
    HWY_DYNAMIC_DISPATCH(blocked_##name##_##S)(product);           \
  }
TOCCA_PRODUCT(a_b, float)
TOCCA_PRODUCT(a_b, double)
TOCCA_PRODUCT(a_bt, float)
TOCCA_PRODUCT(a_bt, double)
#undef TOCCA_PRODUCT

}  // namespace tocca
#endif
