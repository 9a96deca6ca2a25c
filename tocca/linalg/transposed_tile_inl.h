/// Tiles whose sums are a column of the result each: products with few rows are computed transposed, so that the few
/// rows become columns, which fill vectors. Included like tile_inl.h.
#include "tocca/core/fixed_length_vectors.h"

#if defined(TOCCA_LINALG_TRANSPOSED_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOCCA_LINALG_TRANSPOSED_TILE_INL_H
#undef TOCCA_LINALG_TRANSPOSED_TILE_INL_H
#else
#define TOCCA_LINALG_TRANSPOSED_TILE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tocca/core/rows.h"
#include "tocca/linalg/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

/// Aᵀ (k × full) from `count` rows of A, zeros behind. Four numbers of each row at a time.
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

/// Where the transpose of a result goes: row r of a tile is column r of C, whose rows are the first `width` columns of
/// the tile.
template <class S>
struct TransposedTarget {
  Rows<S> c;
  std::size_t width;
  S alpha;   ///< factor of the product
  bool add;  ///< to what is there

  HWY_INLINE TransposedTarget from(std::size_t row) const { return {{c.at(0, row), c.stride}, width, alpha, add}; }
};

template <std::size_t kHeight, std::size_t kVectors, class D, class A, class F, class S = hn::TFromD<D>>
HWY_NOINLINE void put_tile(D d, std::size_t depth, A a, const S* b, std::size_t b_stride, TransposedTarget<S> to,
                           F& fetch) {
  const std::size_t lanes = hn::Lanes(d), full = kVectors * lanes;
  HWY_ALIGN S part[kHeight * kVectors * kLine<S>];
  tile<kHeight, kVectors>(d, depth, a, b, b_stride, part, full, S(1), false, fetch);
  const hn::CappedTag<S, 4> few;
  const hn::CappedTag<S, 1> one;
  const std::size_t width = std::min(to.width, full);  // so that the compiler knows
  std::size_t r = 0;
  for (; r + 4 <= kHeight; r += 4) {
    const S* const row = part + r * full;
    for (std::size_t q = 0; q < width; q += lanes) {
      HWY_ALIGN S four[4 * kLine<S>];
      hn::StoreInterleaved4(hn::Load(d, row + q), hn::Load(d, row + full + q), hn::Load(d, row + 2 * full + q),
                            hn::Load(d, row + 3 * full + q), d, four);
      const std::size_t count = std::min(lanes, width - q);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t x = 0; x < 4; x += hn::Lanes(few)) {
          put(few, hn::Load(few, four + 4 * i + x), to.alpha, to.add, to.c.at(q + i, r + x));
        }
      }
    }
  }
  for (; r < kHeight; ++r) {
    for (std::size_t i = 0; i < width; ++i)
      put(one, hn::LoadU(one, part + r * full + i), to.alpha, to.add, to.c.at(i, r));
  }
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
