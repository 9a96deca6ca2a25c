/// Products in single precision by a matrix unit that multiplies bfloat16 (linalg/matrix_unit.h).
///
/// A float has 24 significant bits, a bfloat16 8 of them and the same exponents: x = h + m + l exactly, each the
/// nearest bfloat16 to what is left. Of the nine products of two such sums six are made; the others, m·l, l·m and l·l,
/// are less than 2⁻²⁶ of the whole, a quarter of what rounding to float takes. Sums are float's: a tile is rounded six
/// times for 32 terms, where a vector is rounded 32 times. Numbers from 3.396·10³⁸ on, of which h is infinite, and
/// infinite ones give NaN; what is below 2⁻¹²⁶ counts as zero.
///
/// Included by kernels that Highway compiles once for each instruction set, hence no ordinary include guard.
#include "tocca/core/fixed_length_vectors.h"

#if defined(TOCCA_LINALG_SPLIT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOCCA_LINALG_SPLIT_INL_H
#undef TOCCA_LINALG_SPLIT_INL_H
#else
#define TOCCA_LINALG_SPLIT_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tocca/core/rows.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/linalg/tile_inl.h"
#include "tocca/linalg/transposed_tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using detail::kUnitRows;
using detail::kUnitTerms;
using detail::kUnitTile;
using detail::kUnitWords;

/// Rows or columns and terms of a step: tiles of h, m and l, one after the other.
constexpr std::size_t kSplitStep = 3 * kUnitTile;  // words

using SplitTag = hn::CappedTag<float, kUnitWords>;

// ---- Splitting -----------------------------------------------------------------------------------------------------

/// Word j of a row of each tile: numbers j of x0 and of x1, which are 16 each.
HWY_INLINE void split_row(const float* x0, const float* x1, std::uint32_t* h) {
  const SplitTag d;
  const hn::RebindToUnsigned<SplitTag> bits;
  const auto half = hn::Set(bits, 0x8000), high = hn::Set(bits, 0xFFFF0000);
  for (std::size_t j = 0; j < kUnitWords; j += hn::Lanes(d)) {
    auto left0 = hn::LoadU(d, x0 + j), left1 = hn::LoadU(d, x1 + j);
    for (std::size_t part = 0; part < 2; ++part) {
      const auto near0 = hn::Add(hn::BitCast(bits, left0), half), near1 = hn::Add(hn::BitCast(bits, left1), half);
      hn::Store(hn::OrAnd(hn::ShiftRight<16>(near0), near1, high), bits, h + part * kUnitTile + j);
      left0 = hn::Sub(left0, hn::BitCast(d, hn::And(near0, high)));
      left1 = hn::Sub(left1, hn::BitCast(d, hn::And(near1, high)));
    }
    hn::Store(hn::OrAnd(hn::ShiftRight<16>(hn::BitCast(bits, left0)), hn::BitCast(bits, left1), high), bits,
              h + 2 * kUnitTile + j);
  }
}

/// Rows of a tile are made of rows of 16 numbers, of which `count0` and `count1` exist. Others are zero.
HWY_INLINE void split_rows(Rows<const float> x0, std::size_t count0, Rows<const float> x1, std::size_t count1,
                           std::uint32_t* h) {
  HWY_ALIGN static constexpr float kZeros[kUnitWords] = {};
  if (count0 >= kUnitRows && count1 >= kUnitRows) {
    for (std::size_t r = 0; r < kUnitRows; ++r) split_row(x0.at(r), x1.at(r), h + r * kUnitWords);
    return;
  }
  for (std::size_t r = 0; r < kUnitRows; ++r) {
    split_row(r < count0 ? x0.at(r) : kZeros, r < count1 ? x1.at(r) : kZeros, h + r * kUnitWords);
  }
}

/// One step of the left factor, of `rows` rows up to 16: term k of a row is number k of x0 for k < 16, number k − 16 of
/// x1 from there on; `terms` of them exist.
HWY_INLINE void split_left(Rows<const float> x0, Rows<const float> x1, std::size_t rows, std::size_t terms,
                           std::uint32_t* out) {
  if (terms >= kUnitTerms) return split_rows(x0, rows, x1, rows, out);
  HWY_ALIGN float some[kUnitRows * kUnitTerms] = {};
  rows = std::min(rows, kUnitRows);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(x0.at(r), std::min(terms, kUnitWords), some + r * kUnitTerms);
    if (terms > kUnitWords) std::copy_n(x1.at(r), terms - kUnitWords, some + r * kUnitTerms + kUnitWords);
  }
  split_rows({some, kUnitTerms}, rows, {some + kUnitWords, kUnitTerms}, rows, out);
}

/// One step of the right factor: row k of x is term k of 16 columns, of which `columns` exist.
HWY_INLINE void split_right(Rows<const float> x, std::size_t terms, std::size_t columns, std::uint32_t* out) {
  terms = std::min(terms, kUnitTerms);
  HWY_ALIGN float some[kUnitTerms * kUnitWords];
  if (columns < kUnitWords) {
    pack_columns(SplitTag(), x, terms, columns, kUnitWords, some);
    x = {some, kUnitWords};
  }
  split_rows(x, terms, {terms > kUnitWords ? x.at(kUnitWords) : x.data, x.stride},
             std::max(terms, kUnitWords) - kUnitWords, out);
}

/// The same from the transposed: row j of x is column j, its number k term k.
HWY_INLINE void split_right_transposed(Rows<const float> x, std::size_t terms, std::size_t columns,
                                       std::uint32_t* out) {
  HWY_ALIGN float some[kUnitTerms * kUnitWords];
  terms = std::min(terms, kUnitTerms);
  pack_rows(SplitTag(), x, terms, std::min(columns, kUnitWords), kUnitWords, some);
  split_right({some, kUnitWords}, terms, kUnitWords, out);
}

/// One step of the left factor from the transposed: row k of x is term k of 16 rows of it.
HWY_INLINE void split_left_transposed(Rows<const float> x, std::size_t rows, std::size_t terms, std::uint32_t* out) {
  HWY_ALIGN float some[2 * kUnitTile];
  const std::size_t first = std::min(terms, kUnitWords), second = std::min(terms - first, kUnitWords);
  rows = std::min(rows, kUnitRows);
  pack_rows(SplitTag(), x, rows, first, kUnitWords, some);
  pack_rows(SplitTag(), {second > 0 ? x.at(kUnitWords) : x.data, x.stride}, rows, second, kUnitWords, some + kUnitTile);
  split_rows({some, kUnitWords}, rows, {some + kUnitTile, kUnitWords}, rows, out);
}

// ---- Multiplying ---------------------------------------------------------------------------------------------------

/// Does what detail::UnitTiles does, in memory.
class MemoryTiles {
 public:
  template <int t>
  void zero() {
    std::fill_n(tiles_[t], kUnitTile, 0);
  }
  template <int t>
  void load(const void* from, std::size_t stride) {
    for (std::size_t r = 0; r < kUnitRows; ++r)
      std::memcpy(tiles_[t] + r * kUnitWords, static_cast<const std::uint32_t*>(from) + r * stride, 4 * kUnitWords);
  }
  template <int t>
  void store(float* to, std::size_t stride) {
    for (std::size_t r = 0; r < kUnitRows; ++r)
      std::memcpy(to + r * stride, tiles_[t] + r * kUnitWords, 4 * kUnitWords);
  }
  template <int c, int a, int b>
  void add_product() {
    const SplitTag d;
    const hn::RebindToUnsigned<SplitTag> bits;
    const auto high = hn::Set(bits, 0xFFFF0000);
    for (std::size_t r = 0; r < kUnitRows; ++r) {
      for (std::size_t j = 0; j < kUnitWords; j += hn::Lanes(d)) {
        auto even = hn::Zero(d), odd = hn::Zero(d);
        for (std::size_t k = 0; k < kUnitWords; ++k) {
          const auto x = hn::Set(bits, tiles_[a][r * kUnitWords + k]),
                     y = hn::Load(bits, tiles_[b] + k * kUnitWords + j);
          even = hn::MulAdd(hn::BitCast(d, hn::ShiftLeft<16>(x)), hn::BitCast(d, hn::ShiftLeft<16>(y)), even);
          odd = hn::MulAdd(hn::BitCast(d, hn::And(x, high)), hn::BitCast(d, hn::And(y, high)), odd);
        }
        std::uint32_t* const to = tiles_[c] + r * kUnitWords + j;
        hn::Store(hn::BitCast(bits, hn::Add(hn::BitCast(d, hn::Load(bits, to)), hn::Add(even, odd))), bits, to);
      }
    }
  }

 private:
  HWY_ALIGN std::uint32_t tiles_[8][kUnitTile];
};

/// Calls f with a place for tiles of the current kind; not for MatrixUnit::kNone.
template <class F>
HWY_INLINE void with_tiles(F f) {
#if defined(TOCCA_HAS_MATRIX_UNIT)
  if (detail::matrix_unit() == detail::MatrixUnit::kProcessor) {
    detail::UnitTiles tiles;
    return f(tiles);
  }
#endif
  MemoryTiles tiles;
  f(tiles);
}

/// Where a block of up to two by two tiles of the result lies: tile (i, j) at c[2 i + j].
struct SplitTarget {
  float* c[4];
  std::size_t stride;
};

/// A block of C, kHeight × kWidth tiles ← A B, or with `add` C + A B: sums of `steps` steps. Those of the second tile
/// of A lie `a_jump` words behind those of the first, of B `b_jump`. `meanwhile()` is called six times a step, for what
/// the processor can do while the unit multiplies.
template <std::size_t kHeight, std::size_t kWidth, class T, class F>
HWY_INLINE void put_split(T& tiles, std::size_t steps, const std::uint32_t* a, std::size_t a_jump,
                          const std::uint32_t* b, std::size_t b_jump, const SplitTarget& to, bool add, F& meanwhile) {
  const auto each = [&](auto f) HWY_ATTR {
    f.template operator()<0>();
    if constexpr (kWidth > 1) f.template operator()<1>();
    if constexpr (kHeight > 1) f.template operator()<2>();
    if constexpr (kHeight > 1 && kWidth > 1) f.template operator()<3>();
  };
  each([&]<int t>() HWY_ATTR {
    if (add) {
      tiles.template load<t>(to.c[t], to.stride);
    } else {
      tiles.template zero<t>();
    }
  });
  const auto left = [&](std::size_t part) HWY_ATTR {
    tiles.template load<4>(a + part * kUnitTile, kUnitWords);
    if constexpr (kHeight > 1) tiles.template load<5>(a + a_jump + part * kUnitTile, kUnitWords);
  };
  const auto right = [&](std::size_t part) HWY_ATTR {
    tiles.template load<6>(b + part * kUnitTile, kUnitWords);
    if constexpr (kWidth > 1) tiles.template load<7>(b + b_jump + part * kUnitTile, kUnitWords);
  };
  const auto multiply = [&]() HWY_ATTR {
    each([&]<int t>() HWY_ATTR { tiles.template add_product<t, 4 + t / 2, 6 + t % 2>(); });
    meanwhile();
  };
  // Each product shares a factor with the one before.
  for (std::size_t s = 0; s < steps; ++s, a += kSplitStep, b += kSplitStep) {
    left(2), right(0), multiply();
    left(1), multiply();
    right(1), multiply();
    left(0), multiply();
    right(2), multiply();
    right(0), multiply();
  }
  each([&]<int t>() HWY_ATTR { tiles.template store<t>(to.c[t], to.stride); });
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
