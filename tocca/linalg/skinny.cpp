// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/skinny.h"

#include <algorithm>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/skinny.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/tile_inl.h"
#include "tocca/linalg/transposed_tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

// So many bytes of B stay in the second-level cache while every row of A passes over them, and as many come in.
constexpr std::size_t kBlockBytes = 128 * 1024;

// The longest sums that are made in one go, of A B and Aᵀ B and of A Bᵀ: packed panels of so many rows lie on the
// stack, 48 and 96 kilobytes of it.
constexpr std::size_t kDepth = 256, kLongDepth = 512;

using detail::Product;

// Without anything to sum C is zero, or what it was.
template <class S>
bool is_empty(const Product<S>& p) {
  if (p.m > 0 && p.k > 0 && p.n > 0) return false;
  for (std::size_t i = 0; i < p.m && !p.add; ++i) std::fill_n(p.c.at(i), p.n, S(0));
  return true;
}

// What is needed after the block of B that ends before row `next`: the following one of these columns, or the first one
// of as many columns behind them.
template <class S>
FetchBlock next_block(const Product<S>& p, std::size_t next, std::size_t depth) {
  if (next < p.k) return {p.b.at(next), p.b.stride * sizeof(S), p.n * sizeof(S), std::min(depth, p.k - next)};
  const std::size_t behind = std::min(p.n, p.all_columns - p.columns_before - p.n);
  return {p.b.at(0, p.n), p.b.stride * sizeof(S), behind * sizeof(S), std::min(depth, p.k)};
}

// ---- C ← A B -------------------------------------------------------------------------------------------------------

template <class S>
void a_b(const Product<S>& p) {
  if (is_empty(p)) return;
  const hn::ScalableTag<S> d;
  HWY_ALIGN S packed[3 * kLine<S> * kDepth];
  const std::size_t depth = std::clamp<std::size_t>(kBlockBytes / (p.all_columns * sizeof(S)), 16, kDepth);
  for (std::size_t first = 0; first < p.k; first += depth) {
    const std::size_t count = std::min(depth, p.k - first);
    const ByRows<S> rows{p.a.at(0, first), p.a.stride};
    FetchBlock fetch = next_block(p, first + depth, depth);
    Panels panels(p.n, hn::Lanes(d));
    for (Panel q; panels.next(q);) {
      // Vectors do not read beyond a row: the last panel begins inside the one before, whose columns it skips.
      const std::size_t skip = q.first > 0 ? q.full - q.width : 0;
      const TileTarget<S> to{{p.c.at(0, q.first), p.c.stride}, q.width, p.alpha, p.add || first > 0, skip};
      const Rows<const S> columns{p.b.at(first, q.first - skip), p.b.stride};
      if (skip + q.width == q.full) {
        put_panel(d, q.vectors, p.m, count, rows, columns.data, columns.stride, to, fetch);
      } else {
        pack_columns(d, columns, count, q.width, q.full, packed);
        put_panel(d, q.vectors, p.m, count, rows, packed, q.full, to, fetch);
      }
    }
  }
}

// ---- C ← Aᵀ B ------------------------------------------------------------------------------------------------------

// Of every panel of columns all rows, or those from its diagonal on.
template <class S>
void at_b_rows(const Product<S>& p, bool from_diagonal) {
  if (is_empty(p)) return;
  const hn::ScalableTag<S> d;
  HWY_ALIGN S packed[3 * kLine<S> * kDepth];
  NoFetch nothing;
  for (std::size_t first = 0; first < p.k; first += kDepth) {
    const std::size_t count = std::min(kDepth, p.k - first);
    Panels panels(p.n, hn::Lanes(d));
    for (Panel q; panels.next(q);) {
      const std::size_t top = from_diagonal ? q.first : 0;
      pack_columns(d, Rows<const S>{p.b.at(first, q.first), p.b.stride}, count, q.width, q.full, packed);
      put_panel(d, q.vectors, p.m - top, count, ByColumns<S>{p.a.at(first, top), p.a.stride}, packed, q.full,
                TileTarget<S>{{p.c.at(top, q.first), p.c.stride}, q.width, p.alpha, p.add || first > 0}, nothing);
    }
  }
}

template <class S>
void at_b(const Product<S>& p) {
  at_b_rows(p, false);
}

template <class S>
void lower_at_b(const Product<S>& p) {
  at_b_rows(p, true);
}

// ---- C ← A Bᵀ, as (B Aᵀ)ᵀ ------------------------------------------------------------------------------------------
// The few rows of A become columns, which fill vectors, and B is read where it lies.

template <class S>
void a_bt(const Product<S>& p) {
  if (is_empty(p)) return;
  const hn::ScalableTag<S> d;
  HWY_ALIGN S packed[3 * kLine<S> * kLongDepth];
  for (std::size_t from = 0; from < p.k; from += kLongDepth) {
    const std::size_t depth = std::min(kLongDepth, p.k - from);
    // Whole tiles of every height, of which there are at most kMostTiles.
    constexpr std::size_t kMostTiles = 11;
    const std::size_t tiles = std::clamp<std::size_t>(kBlockBytes / (depth * sizeof(S)) / kTile, 1, kMostTiles);
    const std::size_t block = tiles * kTile;
    const auto bytes = [&](std::size_t row) { return std::min(row, p.n) * p.b.stride * sizeof(S); };
    Panels panels(p.m, hn::Lanes(d));
    for (Panel q; panels.next(q);) {
      pack_rows(d, Rows<const S>{p.a.at(q.first, from), p.a.stride}, depth, q.width, q.full, packed);
      for (std::size_t first = 0; first < p.n; first += block) {
        const std::size_t count = std::min(block, p.n - first);
        const ByRows<S> rows{p.b.at(first, from), p.b.stride};
        Fetch<1> fetch({p.b.data}, bytes(first + block), bytes(first + 2 * block));
        put_panel(d, q.vectors, count, depth, rows, packed, q.full,
                  TransposedTarget<S>{{p.c.at(q.first, first), p.c.stride}, q.width, p.alpha, p.add || from > 0},
                  fetch);
      }
    }
  }
}

// Highway dispatches functions, not templates.
#define TOCCA_PRODUCT(name, S) \
  void name##_##S(const Product<S>& product) { name<S>(product); }
TOCCA_PRODUCT(a_b, float)
TOCCA_PRODUCT(a_b, double)
TOCCA_PRODUCT(a_bt, float)
TOCCA_PRODUCT(a_bt, double)
TOCCA_PRODUCT(at_b, float)
TOCCA_PRODUCT(at_b, double)
TOCCA_PRODUCT(lower_at_b, float)
TOCCA_PRODUCT(lower_at_b, double)
#undef TOCCA_PRODUCT

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

#define TOCCA_PRODUCT(name, S) \
  HWY_EXPORT(name##_##S);      \
  void detail::skinny_##name(const Product<S>& product) { HWY_DYNAMIC_DISPATCH(name##_##S)(product); }
TOCCA_PRODUCT(a_b, float)
TOCCA_PRODUCT(a_b, double)
TOCCA_PRODUCT(a_bt, float)
TOCCA_PRODUCT(a_bt, double)
TOCCA_PRODUCT(at_b, float)
TOCCA_PRODUCT(at_b, double)
TOCCA_PRODUCT(lower_at_b, float)
TOCCA_PRODUCT(lower_at_b, double)
#undef TOCCA_PRODUCT

}  // namespace tocca
#endif
