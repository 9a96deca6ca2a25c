/// A right factor that is split while it is multiplied with few rows. Included like split_inl.h.
#include "tocca/core/fixed_length_vectors.h"

#if defined(TOCCA_LINALG_SPLIT_AHEAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TOCCA_LINALG_SPLIT_AHEAD_INL_H
#undef TOCCA_LINALG_SPLIT_AHEAD_INL_H
#else
#define TOCCA_LINALG_SPLIT_AHEAD_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tocca/linalg/product.h"
#include "tocca/linalg/split_inl.h"
#include "tocca/linalg/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::Product;

/// Splits B a few steps of two tiles of columns at a time, while those before are multiplied: as many terms of all
/// columns as A is split for, then the next ones. There is a place for two times kGroup steps, which stays in the
/// first-level cache; and B, which is read in pieces of rows, is fetched before in the order of memory.
template <std::size_t kGroup>
class SplitAhead {
 public:
  static constexpr std::size_t kRoom = 2 * 2 * kGroup * kSplitStep;  // words

  // meanwhile() splits so many rows of both tiles.
  SplitAhead(const Product<float>& p, std::size_t most_terms, std::size_t rows_each, std::uint32_t* places)
      : b_(p.b),
        k_(p.k),
        n_(p.n),
        most_terms_(most_terms),
        rows_each_(rows_each),
        end_(std::min(most_terms, p.k)),
        place_(places),
        fetch_(rows_from(end_)) {
    prepare();
  }

  // The next steps, once they are there; the ones behind them are begun.
  HWY_INLINE const std::uint32_t* step() {
    while (rows_left_ > 0) split_next();
    const std::uint32_t* const here = place_;
    place_ = odd_ ? place_ - kRoom / 2 : place_ + kRoom / 2;
    odd_ = !odd_;
    advance();
    prepare();
    return here;
  }
  [[nodiscard]] HWY_INLINE std::size_t jump() const { return kGroup * kSplitStep; }
  HWY_INLINE void meanwhile() {
    for (std::size_t i = std::min(rows_each_, rows_left_); i > 0; --i) split_next();
  }

 private:
  static constexpr std::size_t kGroupTerms = kGroup * kUnitTerms;

  [[nodiscard]] FetchBlock rows_from(std::size_t first) const {
    const std::size_t rows = std::min(most_terms_, k_ - first);
    return {b_.at(rows > 0 ? first : 0), b_.stride * sizeof(float), n_ * sizeof(float), rows};
  }

  HWY_INLINE void split_next() {
    const float* const x1 = x_ + kUnitRows * b_.stride;
    fetch_.next_lines<4>();
    split_row(x_, x1, out_);
    split_row(x_ + kUnitWords, x1 + kUnitWords, out_ + jump());
    x_ += b_.stride;
    out_ += kUnitWords;
    if (--rows_left_ % kUnitRows != 0) return;
    x_ += kUnitRows * b_.stride;
    out_ += kSplitStep - kUnitTile;
  }

  // To the steps after these.
  HWY_INLINE void advance() {
    term_ += kGroupTerms;
    if (term_ < end_) return;
    term_ = begin_;
    column_ += kUnitBlock;
    if (column_ < n_) return;
    column_ = 0;
    begin_ = term_ = end_;
    end_ = std::min(begin_ + most_terms_, k_);
    fetch_ = rows_from(end_);
  }

  // What does not fill tiles is split at once.
  HWY_INLINE void prepare() {
    rows_left_ = 0;
    if (term_ >= end_) return;
    const std::size_t terms = std::min(kGroupTerms, end_ - term_);
    const std::size_t whole = column_ + kUnitBlock <= n_ ? terms / kUnitTerms : 0;
    x_ = b_.at(term_, column_);
    out_ = place_;
    rows_left_ = whole * kUnitRows;
    if (whole * kUnitTerms < terms) split_edge({x_, b_.stride}, whole, terms, n_ - column_, place_);
  }
  HWY_NOINLINE static void split_edge(Rows<const float> b, std::size_t step, std::size_t terms, std::size_t columns,
                                      std::uint32_t* out) {
    for (; step * kUnitTerms < terms; ++step) {
      for (std::size_t x = 0; x < kUnitBlock && x < columns; x += kUnitWords) {
        split_right({b.at(step * kUnitTerms, x), b.stride}, terms - step * kUnitTerms, columns - x,
                    out + (x / kUnitWords * kGroup + step) * kSplitStep);
      }
    }
  }

  Rows<const float> b_;
  std::size_t k_, n_, most_terms_, rows_each_;
  std::size_t begin_ = 0, end_, term_ = 0, column_ = 0;  // of the steps that are split
  const float* x_ = nullptr;
  std::size_t rows_left_ = 0;
  std::uint32_t *place_, *out_ = nullptr;
  bool odd_ = false;
  FetchBlock fetch_;
};

/// Steps that are there, while others are split.
template <std::size_t kGroup>
class SplitMeanwhile : public SplitFactor {
 public:
  SplitMeanwhile(const std::uint32_t* first, SplitAhead<kGroup>& ahead)
      : SplitFactor(first, ahead.jump()), ahead_(&ahead) {}
  HWY_INLINE void meanwhile() { ahead_->meanwhile(); }

 private:
  SplitAhead<kGroup>* ahead_;
};

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
