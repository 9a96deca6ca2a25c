// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/skinny.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/skinny.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

// So many bytes of B stay in the second-level cache while every row of A passes over them, and as many come in.
constexpr std::size_t kBlockBytes = 128 * 1024;

// The longest sums that are made in one go, of A B and Aᵀ B and of A Bᵀ: packed panels of so many rows lie on the
// stack, 48 and 96 kilobytes of it.
constexpr std::size_t kDepth = 256, kLongDepth = 512;

template <class S>
using Product = detail::SkinnyProduct<S>;

// Without anything to sum C is zero, or what it was.
template <class S>
bool is_empty(const Product<S>& p) {
  if (p.m > 0 && p.k > 0 && p.n > 0) return false;
  for (std::size_t i = 0; i < p.m && !p.add; ++i) std::fill_n(p.c.at(i), p.n, S(0));
  return true;
}

// ---- C ← A B -------------------------------------------------------------------------------------------------------

template <class S>
void a_b(const Product<S>& p) {
  if (is_empty(p)) return;
  const hn::ScalableTag<S> d;
  HWY_ALIGN S packed[3 * kLine<S> * kDepth];
  const std::size_t depth = std::clamp<std::size_t>(kBlockBytes / (p.n * sizeof(S)), 16, kDepth);
  const auto bytes = [&](std::size_t row) { return std::min(row, p.k) * p.b.stride * sizeof(S); };
  for (std::size_t first = 0; first < p.k; first += depth) {
    const std::size_t count = std::min(depth, p.k - first);
    const ByRows<S> rows{p.a.at(0, first), p.a.stride};
    Fetch<1> fetch({p.b.data}, bytes(first + depth), bytes(first + 2 * depth));
    Panels panels(p.n, hn::Lanes(d));
    for (Panel q; panels.next(q);) {
      const TileTarget<S> to{{p.c.at(0, q.first), p.c.stride}, q.width, p.alpha, p.add || first > 0};
      const Rows<const S> columns{p.b.at(first, q.first), p.b.stride};
      if (q.width == q.full) {
        put_panel(d, q.vectors, p.m, count, rows, columns.data, columns.stride, to, fetch);
      } else {  // a whole vector would read beyond the row, and behind the last one there may be nothing
        pack_columns(d, columns, count, q.width, q.full, packed);
        put_panel(d, q.vectors, p.m, count, rows, packed, q.full, to, fetch);
      }
    }
  }
}

// ---- C ← Aᵀ B ------------------------------------------------------------------------------------------------------

template <class S>
void at_b(const Product<S>& p) {
  if (is_empty(p)) return;
  const hn::ScalableTag<S> d;
  HWY_ALIGN S packed[3 * kLine<S> * kDepth];
  NoFetch nothing;
  for (std::size_t first = 0; first < p.k; first += kDepth) {
    const std::size_t count = std::min(kDepth, p.k - first);
    Panels panels(p.n, hn::Lanes(d));
    for (Panel q; panels.next(q);) {
      pack_columns(d, Rows<const S>{p.b.at(first, q.first), p.b.stride}, count, q.width, q.full, packed);
      put_panel(d, q.vectors, p.m, count, ByColumns<S>{p.a.at(first), p.a.stride}, packed, q.full,
                TileTarget<S>{{p.c.at(0, q.first), p.c.stride}, q.width, p.alpha, p.add || first > 0}, nothing);
    }
  }
}

// ---- C ← A Bᵀ, as (B Aᵀ)ᵀ ------------------------------------------------------------------------------------------
// The few rows of A become columns, which fill vectors, and B is read where it lies.

// Aᵀ (k × full) from `count` rows of A, zeros behind. Four numbers of each row at a time.
template <class D, class S = hn::TFromD<D>>
void pack_rows(D d, Rows<const S> a, std::size_t k, std::size_t count, std::size_t full, S* out) {
  const std::size_t lanes = hn::Lanes(d);
  // A place is written again when what was read from it has long arrived.
  constexpr std::size_t kPlaces = 8;
  HWY_ALIGN S places[kPlaces][4 * kLine<S>] = {};
  std::size_t at = 0, j = 0;
  for (; j + 4 <= k; j += 4) {
    for (std::size_t q = 0; q < full; q += lanes, ++at) {
      S* const four = places[at % kPlaces];
      const std::size_t rows = std::min(lanes, count - std::min(count, q));
      for (std::size_t i = 0; i < rows; ++i) std::memcpy(four + 4 * i, a.at(q + i, j), 4 * sizeof(S));
      if (rows < lanes) std::fill(four + 4 * rows, four + 4 * lanes, S(0));
      hn::Vec<D> v0, v1, v2, v3;
      hn::LoadInterleaved4(d, four, v0, v1, v2, v3);
      S* const to = out + j * full + q;
      hn::Store(v0, d, to);
      hn::Store(v1, d, to + full);
      hn::Store(v2, d, to + 2 * full);
      hn::Store(v3, d, to + 3 * full);
    }
  }
  for (; j < k; ++j) {
    for (std::size_t i = 0; i < full; ++i) out[j * full + i] = i < count ? *a.at(i, j) : S(0);
  }
}

// C (to.width × kHeight) ← the transpose of a tile of kHeight rows of `full`.
template <std::size_t kHeight, class D, class S = hn::TFromD<D>>
HWY_INLINE void put_transposed(D d, const S* tile, std::size_t full, TileTarget<S> to) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t r = 0;
  for (; r + 4 <= kHeight; r += 4) {
    const S* const row = tile + r * full;
    for (std::size_t q = 0; q < to.width; q += lanes) {
      HWY_ALIGN S four[4 * kLine<S>];
      hn::StoreInterleaved4(hn::Load(d, row + q), hn::Load(d, row + full + q), hn::Load(d, row + 2 * full + q),
                            hn::Load(d, row + 3 * full + q), d, four);
      const std::size_t count = std::min(lanes, to.width - q);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t x = 0; x < 4; ++x) to.put(q + i, r + x, four[4 * i + x]);
      }
    }
  }
  for (; r < kHeight; ++r) {
    for (std::size_t i = 0; i < to.width; ++i) to.put(i, r, tile[r * full + i]);
  }
}

template <std::size_t kHeight, std::size_t kVectors, class D, class F, class S = hn::TFromD<D>>
HWY_NOINLINE void put_columns(D d, std::size_t k, ByRows<S> b, const S* panel, TileTarget<S> to, F& fetch) {
  const std::size_t full = kVectors * hn::Lanes(d);
  HWY_ALIGN S part[kHeight * kVectors * kLine<S>];
  tile<kHeight, kVectors>(d, k, b, panel, full, part, full, S(1), false, fetch);
  put_transposed<kHeight>(d, part, full, to);
}

// The last n < 2 · kHeight columns.
template <std::size_t kHeight, std::size_t kVectors, class D, class F, class S = hn::TFromD<D>>
void put_last_columns(D d, std::size_t n, std::size_t k, ByRows<S> b, const S* panel, TileTarget<S> to, F& fetch) {
  if (n >= kHeight) {
    put_columns<kHeight, kVectors>(d, k, b, panel, to, fetch);
    n -= kHeight;
    b = b.from(kHeight);
    to = to.from(0, kHeight);
  }
  if constexpr (kHeight > 1) put_last_columns<kHeight / 2, kVectors>(d, n, k, b, panel, to, fetch);
}

template <std::size_t kVectors, class D, class F, class S = hn::TFromD<D>>
void put_all_columns(D d, std::size_t n, std::size_t k, ByRows<S> b, const S* panel, TileTarget<S> to, F& fetch) {
  constexpr std::size_t kHeight = kTileRows<kVectors>;
  std::size_t j = 0;
  for (; j + kHeight <= n; j += kHeight) {
    put_columns<kHeight, kVectors>(d, k, b.from(j), panel, to.from(0, j), fetch);
  }
  put_last_columns<std::bit_floor(kHeight - 1), kVectors>(d, n - j, k, b.from(j), panel, to.from(0, j), fetch);
}

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
        const TileTarget<S> to{{p.c.at(q.first, first), p.c.stride}, q.width, p.alpha, p.add || from > 0};
        if (q.vectors == 3) {
          put_all_columns<3>(d, count, depth, rows, packed, to, fetch);
        } else if (q.vectors == 2) {
          put_all_columns<2>(d, count, depth, rows, packed, to, fetch);
        } else {
          put_all_columns<1>(d, count, depth, rows, packed, to, fetch);
        }
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
#undef TOCCA_PRODUCT

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

#define TOCCA_PRODUCT(name, S) \
  HWY_EXPORT(name##_##S);      \
  void detail::skinny_##name(const detail::SkinnyProduct<S>& product) { HWY_DYNAMIC_DISPATCH(name##_##S)(product); }
TOCCA_PRODUCT(a_b, float)
TOCCA_PRODUCT(a_b, double)
TOCCA_PRODUCT(a_bt, float)
TOCCA_PRODUCT(a_bt, double)
TOCCA_PRODUCT(at_b, float)
TOCCA_PRODUCT(at_b, double)
#undef TOCCA_PRODUCT

}  // namespace tocca
#endif
