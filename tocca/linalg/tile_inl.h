/// Pieces of a matrix product whose sums stay in registers. Included by kernels that Highway compiles once for each
/// instruction set, hence no ordinary include guard.
#include "tocca/core/fixed_length_vectors.h"

#if defined(TOCCA_LINALG_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOCCA_LINALG_TILE_INL_H
#undef TOCCA_LINALG_TILE_INL_H
#else
#define TOCCA_LINALG_TILE_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tocca/core/huge_pages.h"
#include "tocca/core/rows.h"

// Loops over a tile have to be unrolled before the compiler decides what lies in memory: otherwise it keeps a copy of
// the sums there.
#if HWY_COMPILER_CLANG
#define TOCCA_UNROLL _Pragma("unroll")
#else
#define TOCCA_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of sums in a tile: with those of B and one of A they fill the 32 registers of AVX-512, and the 16 of what
/// came before.
constexpr std::size_t kTile = HWY_MAX_BYTES >= 64 ? 24 : 12;
/// The rows of a tile that is so many vectors wide.
template <std::size_t kVectors>
constexpr std::size_t kTileRows = kTile / std::max<std::size_t>(kVectors, 2);

/// Numbers in a cache line, or in a vector where that is longer.
template <class S>
constexpr std::size_t kLine = std::max<std::size_t>(kCacheLine, HWY_MAX_BYTES) / sizeof(S);

HWY_INLINE std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Columns that are computed together: from `first` on, `vectors` wide, which is `full` numbers of which `width` exist.
struct Panel {
  std::size_t first = 0, vectors = 0, full = 0, width = 0;
};

/// Cuts n columns into panels of three vectors, or two where one would be left over.
class Panels {
 public:
  Panels(std::size_t n, std::size_t lanes) : n_(n), lanes_(lanes) {}

  /// Whether there is one more; it is `panel` then.
  HWY_INLINE bool next(Panel& panel) {
    if (first_ >= n_) return false;
    const std::size_t left = divide_up(n_ - first_, lanes_);
    const std::size_t vectors = left == 4 ? 2 : std::min<std::size_t>(left, 3);
    panel = {first_, vectors, vectors * lanes_, std::min(vectors * lanes_, n_ - first_)};
    first_ += panel.full;
    return true;
  }

 private:
  std::size_t n_, lanes_, first_ = 0;
};

/// The left factor A of a tile, by rows: number k of row r is data[r · stride + k].
template <class S>
struct ByRows {
  const S* data;
  std::size_t stride;

  HWY_INLINE ByRows from(std::size_t r, std::size_t k = 0) const { return {data + r * stride + k, stride}; }

  /// Column k of kHeight rows, for k = 0, 1, ...: one address for three rows each, which x86 can add the strides to.
  template <std::size_t kHeight>
  class Column {
   public:
    HWY_INLINE explicit Column(const ByRows& a) : stride_(a.stride) {
      for (std::size_t i = 0; i < kPlaces; ++i) place_[i] = a.data + 3 * i * a.stride;
    }
    HWY_INLINE S operator[](std::size_t r) const { return place_[r / 3][r % 3 * stride_]; }
    HWY_INLINE void next() {
      for (std::size_t i = 0; i < kPlaces; ++i) ++place_[i];
    }

   private:
    static constexpr std::size_t kPlaces = (kHeight + 2) / 3;
    const S* place_[kPlaces];
    std::size_t stride_;
  };
};

/// The same by columns: number k of row r is data[r + k · stride].
template <class S>
struct ByColumns {
  const S* data;
  std::size_t stride;

  HWY_INLINE ByColumns from(std::size_t r, std::size_t k = 0) const { return {data + r + k * stride, stride}; }

  template <std::size_t>
  class Column {
   public:
    HWY_INLINE explicit Column(const ByColumns& a) : data_(a.data), stride_(a.stride) {}
    HWY_INLINE S operator[](std::size_t r) const { return data_[r]; }
    HWY_INLINE void next() { data_ += stride_; }

   private:
    const S* data_;
    std::size_t stride_;
  };
};

/// A vector of products, times alpha, goes `to` there, or with `add` to what is there.
template <class D, class S = hn::TFromD<D>>
HWY_INLINE void put(D d, hn::Vec<D> products, S alpha, bool add, S* to) {
  const auto factor = hn::Set(d, alpha);
  hn::StoreU(add ? hn::MulAdd(factor, products, hn::LoadU(d, to)) : hn::Mul(factor, products), d, to);
}

/// Where a result goes: `width` columns of a tile or panel, those behind its first `skip`.
template <class S>
struct TileTarget {
  Rows<S> c;
  std::size_t width;
  S alpha;   ///< factor of the product
  bool add;  ///< to what is there
  std::size_t skip = 0;

  HWY_INLINE TileTarget from(std::size_t row) const { return {{c.at(row), c.stride}, width, alpha, add, skip}; }
};

/// Nothing is fetched ahead.
struct NoFetch {
  HWY_INLINE void next() {}
};

/// Fetches ahead of a computation what comes next into the second-level cache, in the order of memory: every turn of a
/// tile's loop asks for one line, of so many arrays in turn. Memory then delivers at its full rate, which it does not
/// in the order that tiles want, and no burst holds up what the tiles read.
template <std::size_t kArrays>
class Fetch {
 public:
  /// Bytes `begin` to `end` behind each of the addresses.
  Fetch(const std::array<const void*, kArrays>& from, std::size_t begin, std::size_t end)
      : left_(kArrays * divide_up(end - begin, kCacheLine)) {
    for (std::size_t i = 0; i < kArrays; ++i) next_[i] = static_cast<const char*>(from[i]) + begin;
  }

  HWY_INLINE void next() {
    if (left_ == 0) return;
    --left_;
    const char* const line = next_[0];
    __builtin_prefetch(line, 0, 2);
    for (std::size_t i = 1; i < kArrays; ++i) next_[i - 1] = next_[i];
    next_[kArrays - 1] = line + kCacheLine;
  }

 private:
  std::array<const char*, kArrays> next_;
  std::size_t left_;
};

/// The same for rows of one matrix that may be parts of longer ones.
class FetchBlock {
 public:
  /// `width` bytes of `rows` rows that begin `stride` bytes after each other.
  FetchBlock(const void* from, std::size_t stride, std::size_t width, std::size_t rows)
      : line_(reinterpret_cast<std::uintptr_t>(from)) {
    if (width == 0 || rows == 0) return;
    if (width + kCacheLine >= stride) {  // next to nothing lies between
      width = (rows - 1) * stride + width;
      rows = 1;
    }
    // One line more, since rows begin anywhere in theirs.
    a_row_ = in_row_ = width / kCacheLine + 1;
    jump_ = stride - a_row_ * kCacheLine;
    left_ = rows * a_row_;
  }

  HWY_INLINE void next() {
    if (left_ == 0) return;
    --left_;
    __builtin_prefetch(reinterpret_cast<const void*>(line_), 0, 2);
    line_ += kCacheLine;
    if (--in_row_ > 0) return;
    in_row_ = a_row_;
    line_ += jump_;
  }

  /// So many lines at once, of which the last of a row may lie behind it; perhaps not the very last ones.
  template <std::size_t kLines>
  HWY_INLINE void next_lines() {
    if (left_ < kLines) return;
    left_ -= kLines;
    for (std::size_t i = 0; i < kLines; ++i)
      __builtin_prefetch(reinterpret_cast<const void*>(line_ + i * kCacheLine), 0, 2);
    line_ += kLines * kCacheLine;
    if (in_row_ > kLines) {
      in_row_ -= kLines;
      return;
    }
    line_ -= (kLines - in_row_) * kCacheLine;
    left_ += kLines - in_row_;
    in_row_ = a_row_;
    line_ += jump_;
  }

 private:
  std::uintptr_t line_;  // not a pointer, since lines may lie beyond what is there
  std::size_t left_ = 0, in_row_ = 0, a_row_ = 0;
  std::uintptr_t jump_ = 0;  // may be less than 0, and wraps
};

/// C (kHeight × kVectors vectors) ← α A (kHeight × depth) · B (depth × kVectors vectors, rows of `b_stride`); depth >
/// 0. Each number is one sum in the order of k, whatever the tile's size.
template <std::size_t kHeight, std::size_t kVectors, class D, class A, class F, class S = hn::TFromD<D>>
HWY_INLINE void tile(D d, std::size_t depth, const A& a, const S* HWY_RESTRICT b, std::size_t b_stride,
                     S* HWY_RESTRICT c, std::size_t c_stride, S alpha, bool add, F& fetch) {
  const std::size_t lanes = hn::Lanes(d);
  typename A::template Column<kHeight> x(a);
  F ahead = fetch;
  // The first products start the sums: compilers keep what has no value before in registers alone.
  hn::Vec<D> sum[kHeight][kVectors], y[kVectors];
  TOCCA_UNROLL
  for (std::size_t q = 0; q < kVectors; ++q) y[q] = hn::LoadU(d, b + q * lanes);
  TOCCA_UNROLL
  for (std::size_t r = 0; r < kHeight; ++r) {
    TOCCA_UNROLL
    for (std::size_t q = 0; q < kVectors; ++q) sum[r][q] = hn::Mul(hn::Set(d, x[r]), y[q]);
  }
  for (std::size_t k = 1; k < depth; ++k) {
    b += b_stride;
    x.next();
    ahead.next();
    TOCCA_UNROLL
    for (std::size_t q = 0; q < kVectors; ++q) y[q] = hn::LoadU(d, b + q * lanes);
    TOCCA_UNROLL
    for (std::size_t r = 0; r < kHeight; ++r) {
      const auto xr = hn::Set(d, x[r]);
      TOCCA_UNROLL
      for (std::size_t q = 0; q < kVectors; ++q) sum[r][q] = hn::MulAdd(xr, y[q], sum[r][q]);
    }
  }
  fetch = ahead;
  if (add) {
    TOCCA_UNROLL
    for (std::size_t r = 0; r < kHeight; ++r) {
      TOCCA_UNROLL
      for (std::size_t q = 0; q < kVectors; ++q) {
        sum[r][q] = hn::MulAdd(hn::Set(d, alpha), sum[r][q], hn::LoadU(d, c + r * c_stride + q * lanes));
      }
    }
  } else if (alpha != S(1)) {
    TOCCA_UNROLL
    for (std::size_t r = 0; r < kHeight; ++r) {
      TOCCA_UNROLL
      for (std::size_t q = 0; q < kVectors; ++q) sum[r][q] = hn::Mul(hn::Set(d, alpha), sum[r][q]);
    }
  }
  TOCCA_UNROLL
  for (std::size_t r = 0; r < kHeight; ++r) {
    TOCCA_UNROLL
    for (std::size_t q = 0; q < kVectors; ++q) hn::StoreU(sum[r][q], d, c + r * c_stride + q * lanes);
  }
}

/// The same where C may have fewer columns than the tile.
template <std::size_t kHeight, std::size_t kVectors, class D, class A, class F, class S = hn::TFromD<D>>
HWY_NOINLINE void put_tile(D d, std::size_t depth, A a, const S* b, std::size_t b_stride, TileTarget<S> to, F& fetch) {
  const std::size_t lanes = hn::Lanes(d), full = kVectors * lanes;
  if (to.width == full) {
    tile<kHeight, kVectors>(d, depth, a, b, b_stride, to.c.data, to.c.stride, to.alpha, to.add, fetch);
    return;
  }
  HWY_ALIGN S part[kHeight * kVectors * kLine<S>];
  tile<kHeight, kVectors>(d, depth, a, b, b_stride, part, full, S(1), false, fetch);
  const hn::CappedTag<S, 1> one;
  for (std::size_t r = 0; r < kHeight; ++r) {
    const S* const from = part + r * full + to.skip;
    S* const row = to.c.at(r);
    std::size_t j = 0;
    for (; j + lanes <= to.width; j += lanes) put(d, hn::LoadU(d, from + j), to.alpha, to.add, row + j);
    for (; j < to.width; ++j) put(one, hn::LoadU(one, from + j), to.alpha, to.add, row + j);
  }
}

/// The last m < 2 · kHeight rows.
template <std::size_t kHeight, std::size_t kVectors, class D, class A, class T, class F, class S = hn::TFromD<D>>
void put_last_rows(D d, std::size_t m, std::size_t depth, A a, const S* b, std::size_t b_stride, T to, F& fetch) {
  if (m >= kHeight) {
    put_tile<kHeight, kVectors>(d, depth, a, b, b_stride, to, fetch);
    m -= kHeight;
    a = a.from(kHeight);
    to = to.from(kHeight);
  }
  if constexpr (kHeight > 1) put_last_rows<kHeight / 2, kVectors>(d, m, depth, a, b, b_stride, to, fetch);
}

template <std::size_t kVectors, class D, class A, class T, class F, class S = hn::TFromD<D>>
void put_rows(D d, std::size_t m, std::size_t depth, A a, const S* b, std::size_t b_stride, T to, F& fetch) {
  constexpr std::size_t kHeight = kTileRows<kVectors>;
  std::size_t i = 0;
  for (; i + kHeight <= m; i += kHeight) {
    put_tile<kHeight, kVectors>(d, depth, a.from(i), b, b_stride, to.from(i), fetch);
  }
  if (i == m) return;
  put_last_rows<std::bit_floor(kHeight - 1), kVectors>(d, m - i, depth, a.from(i), b, b_stride, to.from(i), fetch);
}

/// C (m × to.width) ← A (m × depth) · B (depth × `vectors` vectors, up to three). T is a target with a put_tile().
template <class D, class A, class T, class F, class S = hn::TFromD<D>>
void put_panel(D d, std::size_t vectors, std::size_t m, std::size_t depth, A a, const S* b, std::size_t b_stride, T to,
               F& fetch) {
  if (vectors == 3) {
    put_rows<3>(d, m, depth, a, b, b_stride, to, fetch);
  } else if (vectors == 2) {
    put_rows<2>(d, m, depth, a, b, b_stride, to, fetch);
  } else {
    put_rows<1>(d, m, depth, a, b, b_stride, to, fetch);
  }
}

/// The first `count` columns of `depth` rows of B, `full` wide with zeros behind.
template <class D, class S = hn::TFromD<D>>
void pack_columns(D d, Rows<const S> b, std::size_t depth, std::size_t count, std::size_t full, S* out) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < depth; ++k, out += full) {
    const S* const from = b.at(k);
    if (count == full) {
      for (std::size_t i = 0; i < full; i += lanes) hn::Store(hn::LoadU(d, from + i), d, out + i);
    } else {
      for (std::size_t i = 0; i < full; ++i) out[i] = i < count ? from[i] : S(0);
    }
  }
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef TOCCA_UNROLL
#endif
