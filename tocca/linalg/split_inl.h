/// Products in single precision by a matrix unit that multiplies bfloat16 (linalg/matrix_unit.h).
///
/// A float has 24 significant bits, a bfloat16 8 of them and the same exponents: x = h + m + l exactly, each the
/// nearest bfloat16 to what is left. Of the nine products of two such sums six are made; the others, m·l, l·m and l·l,
/// are at most 2⁻²⁴ of the whole together, as much as rounding to float takes, and far less on average. Sums are
/// float's: a tile is rounded six times for 32 terms, where a vector is rounded 32 times. Numbers from 3.396·10³⁸ on,
/// of which h is infinite, and infinite ones give NaN. Parts and sums below 2⁻¹²⁶ count as zero: numbers below 2⁻¹⁰²
/// lose digits.
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

#include "tocca/core/denormals.h"
#include "tocca/core/rows.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/linalg/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using detail::kUnitBlock;
using detail::kUnitRows;
using detail::kUnitTerms;
using detail::kUnitTile;
using detail::kUnitWords;

/// Rows or columns and terms of a step: tiles of h, m and l, one after the other.
constexpr std::size_t kSplitStep = 3 * kUnitTile;  // words

using SplitTag = hn::CappedTag<float, kUnitWords>;

// ---- Turning -------------------------------------------------------------------------------------------------------

#if HWY_TARGET != HWY_SCALAR
/// Four numbers of every fourth row, one behind the other: those at x, at x + 4 rows, and so on.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* x, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, x + hn::MaxLanes(half) * stride, stride), load_blocks(half, x, stride));
  }
}
#endif

/// Number j of row i of x → number i of row j of `to`, 16 by 16. Blocks of four numbers come from memory in their
/// place, so that what is left to do is to turn four by four.
HWY_INLINE void turn_tile(Rows<const float> x, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < kUnitRows; ++i) {
    for (std::size_t j = 0; j < kUnitWords; ++j) to[j * kUnitWords + i] = *x.at(i, j);
  }
#else
  const SplitTag d;
  const std::size_t lanes = hn::Lanes(d);
  const hn::RebindToUnsigned<SplitTag> bits;
  const hn::Repartition<std::uint64_t, SplitTag> pairs;
  for (std::size_t q = 0; q < kUnitRows; q += lanes) {
    for (std::size_t j = 0; j < kUnitWords; j += 4) {
      const auto row = [&](std::size_t i)
                           HWY_ATTR { return hn::BitCast(bits, load_blocks(d, x.at(q + i, j), x.stride)); };
      const auto v0 = row(0), v1 = row(1), v2 = row(2), v3 = row(3);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(bits, v0, v1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(bits, v2, v3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(bits, v0, v1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(bits, v2, v3));
      float* const out = to + j * kUnitWords + q;
      const auto put = [&](auto v, std::size_t column)
                           HWY_ATTR { hn::Store(hn::BitCast(d, v), d, out + column * kUnitWords); };
      put(hn::InterleaveLower(pairs, low01, low23), 0);
      put(hn::InterleaveUpper(pairs, low01, low23), 1);
      put(hn::InterleaveLower(pairs, high01, high23), 2);
      put(hn::InterleaveUpper(pairs, high01, high23), 3);
    }
  }
#endif
}

/// The same for `rows` × `columns` up to 16 by 16: so many columns of x are rows of `to`, with zeros behind. Further
/// rows are not written.
HWY_INLINE void turn_part(Rows<const float> x, std::size_t rows, std::size_t columns, float* to) {
  if (rows >= kUnitRows && columns >= kUnitWords) return turn_tile(x, to);
  for (std::size_t j = 0; j < std::min(columns, kUnitWords); ++j) {
    for (std::size_t i = 0; i < kUnitRows; ++i) to[j * kUnitWords + i] = i < rows ? *x.at(i, j) : 0;
  }
}

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
  turn_part(x, columns, terms, some);
  if (terms > kUnitWords) turn_part({x.at(0, kUnitWords), x.stride}, columns, terms - kUnitWords, some + kUnitTile);
  split_right({some, kUnitWords}, terms, kUnitWords, out);
}

/// One step of the left factor from the transposed: row k of x is term k of 16 rows of it.
HWY_INLINE void split_left_transposed(Rows<const float> x, std::size_t rows, std::size_t terms, std::uint32_t* out) {
  HWY_ALIGN float some[2 * kUnitTile];
  turn_part(x, terms, rows, some);
  if (terms > kUnitWords) {
    turn_part({x.at(kUnitWords), x.stride}, terms - kUnitWords, rows, some + kUnitTile);
  } else {
    std::fill_n(some + kUnitTile, kUnitTile, 0.0F);
  }
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
  const FlushDenormals flush;  // as the unit does
  MemoryTiles tiles;
  f(tiles);
}

/// A factor of a block, one or two tiles, split before: the steps of the second lie `jump` words behind those of the
/// first.
class SplitFactor {
 public:
  SplitFactor(const std::uint32_t* first, std::size_t jump) : next_(first), jump_(jump) {}
  /// Where the first tile's next step lies.
  HWY_INLINE const std::uint32_t* step() {
    const std::uint32_t* const here = next_;
    next_ += kSplitStep;
    return here;
  }
  [[nodiscard]] HWY_INLINE std::size_t jump() const { return jump_; }
  /// Called six times a step, for what the processor can do while the unit multiplies.
  HWY_INLINE void meanwhile() {}

 private:
  const std::uint32_t* next_;
  std::size_t jump_;
};

/// Where a block of up to two by two tiles of the result lies: tile (i, j) at c[2 i + j].
struct SplitTarget {
  float* c[4];
  std::size_t stride;
};

/// All tiles of C ← C + the product of tiles 4 and 5 with 6 and 7, and what is done meanwhile.
template <std::size_t kHeight, std::size_t kWidth, class T, class A, class B>
HWY_INLINE void add_products(T& tiles, A& a, B& b) {
  tiles.template add_product<0, 4, 6>();
  if constexpr (kWidth > 1) tiles.template add_product<1, 4, 7>();
  if constexpr (kHeight > 1) tiles.template add_product<2, 5, 6>();
  if constexpr (kHeight > 1 && kWidth > 1) tiles.template add_product<3, 5, 7>();
  a.meanwhile();
  b.meanwhile();
}

/// A block of C, kHeight × kWidth tiles ← A B, or with `add` C + A B: sums of `steps` steps. Both factors have the
/// members of SplitFactor.
template <std::size_t kHeight, std::size_t kWidth, class T, class A, class B>
HWY_INLINE void put_split(T& tiles, std::size_t steps, A& left, B& right, const SplitTarget& to, bool add) {
  // Copies that nobody else sees stay in registers.
  A a = left;
  B b = right;
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
  const auto load_a = [&](const std::uint32_t* h, std::size_t part) HWY_ATTR {
    tiles.template load<4>(h + part * kUnitTile, kUnitWords);
    if constexpr (kHeight > 1) tiles.template load<5>(h + a.jump() + part * kUnitTile, kUnitWords);
  };
  const auto load_b = [&](const std::uint32_t* h, std::size_t part) HWY_ATTR {
    tiles.template load<6>(h + part * kUnitTile, kUnitWords);
    if constexpr (kWidth > 1) tiles.template load<7>(h + b.jump() + part * kUnitTile, kUnitWords);
  };
  // Each product shares a factor with the one before.
  for (std::size_t s = 0; s < steps; ++s) {
    const std::uint32_t* const ha = a.step();
    const std::uint32_t* const hb = b.step();
    load_a(ha, 2), load_b(hb, 0), add_products<kHeight, kWidth>(tiles, a, b);
    load_a(ha, 1), add_products<kHeight, kWidth>(tiles, a, b);
    load_b(hb, 1), add_products<kHeight, kWidth>(tiles, a, b);
    load_a(ha, 0), add_products<kHeight, kWidth>(tiles, a, b);
    load_b(hb, 2), add_products<kHeight, kWidth>(tiles, a, b);
    load_b(hb, 0), add_products<kHeight, kWidth>(tiles, a, b);
  }
  each([&]<int t>() HWY_ATTR { tiles.template store<t>(to.c[t], to.stride); });
  left = a;
  right = b;
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
