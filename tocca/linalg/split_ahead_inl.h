/// A factor that is split while it is multiplied, since the other one has few rows or columns. Included like
/// split_inl.h.
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

/// The next numbers to be split: from x on `terms` of them in each of `rows` rows (of a left factor) or columns.
struct SplitPart {
  const float* x;
  std::size_t terms, rows;
};

/// Splits a factor kGroup steps of two tiles at a time, while those before are multiplied. There is a place for two
/// times as many, which stays in the first-level cache. Source says what comes next, and splits it: part(terms),
/// advance(terms), and for whole tiles put_row(x, out, jump), which splits one row of both, with row_step() numbers
/// from one to the next and step_step() more behind the last; otherwise put_edge(part, step, x, jump).
template <std::size_t kGroup, class Source>
class SplitAhead {
 public:
  static constexpr std::size_t kRoom = 2 * 2 * kGroup * kSplitStep;  ///< words

  /// meanwhile() splits `rows_each` rows of both tiles.
  SplitAhead(const Source& source, std::size_t rows_each, std::uint32_t* places)
      : source_(source), rows_each_(rows_each), place_(places) {
    prepare();
  }

  /// The next steps, once they are there; the ones behind them are begun.
  HWY_INLINE const std::uint32_t* step() {
    while (rows_left_ > 0) split_next();
    const std::uint32_t* const here = place_;
    place_ = odd_ ? place_ - kRoom / 2 : place_ + kRoom / 2;
    odd_ = !odd_;
    source_.advance(kTerms);
    prepare();
    return here;
  }
  [[nodiscard]] HWY_INLINE std::size_t jump() const { return kGroup * kSplitStep; }
  HWY_INLINE void meanwhile() {
    for (std::size_t i = std::min(rows_each_, rows_left_); i > 0; --i) split_next();
  }

 private:
  static constexpr std::size_t kTerms = kGroup * kUnitTerms;

  HWY_INLINE void split_next() {
    source_.put_row(x_, out_, jump());
    x_ += source_.row_step();
    out_ += kUnitWords;
    if (--rows_left_ % kUnitRows != 0) return;
    x_ += source_.step_step();
    out_ += kSplitStep - kUnitTile;
  }
  // What does not fill tiles is split at once.
  HWY_INLINE void prepare() {
    const SplitPart part = source_.part(kTerms);
    const std::size_t whole = part.rows >= kUnitBlock ? part.terms / kUnitTerms : 0;
    x_ = part.x;
    out_ = place_;
    rows_left_ = whole * kUnitRows;
    for (std::size_t s = whole; s * kUnitTerms < part.terms; ++s)
      source_.put_edge(part, s, out_ + s * kSplitStep, jump());
  }

  Source source_;
  std::size_t rows_each_;
  const float* x_ = nullptr;
  std::size_t rows_left_ = 0;
  std::uint32_t *place_, *out_ = nullptr;
  bool odd_ = false;
};

/// Steps that are there, while others are split.
template <class Ahead>
class SplitMeanwhile : public SplitFactor {
 public:
  SplitMeanwhile(const std::uint32_t* first, Ahead& ahead) : SplitFactor(first, ahead.jump()), ahead_(&ahead) {}
  HWY_INLINE void meanwhile() { ahead_->meanwhile(); }

 private:
  Ahead* ahead_;
};

/// B row by row, as many terms of all columns as A is split for, then the next ones. It is read in these pieces of
/// rows, and fetched before in the order of memory.
class ColumnsOfB {
 public:
  ColumnsOfB(const Product<float>& p, std::size_t most_terms)
      : b_(p.b), k_(p.k), n_(p.n), most_terms_(most_terms), end_(std::min(most_terms, p.k)), fetch_(rows_from(end_)) {}

  [[nodiscard]] HWY_INLINE SplitPart part(std::size_t terms) const {
    return {term_ < end_ ? b_.at(term_, column_) : b_.data, std::min(terms, end_ - term_), n_ - column_};
  }
  HWY_INLINE void advance(std::size_t terms) {
    term_ = std::min(term_ + terms, end_);
    if (term_ < end_) return;
    term_ = begin_;
    column_ += kUnitBlock;
    if (column_ < n_) return;
    column_ = 0;
    begin_ = term_ = end_;
    end_ = std::min(begin_ + most_terms_, k_);
    fetch_ = rows_from(end_);
  }
  HWY_INLINE void put_row(const float* x, std::uint32_t* out, std::size_t jump) {
    fetch_.next_lines<4>();
    const float* const below = x + kUnitRows * b_.stride;
    split_row(x, below, out);
    split_row(x + kUnitWords, below + kUnitWords, out + jump);
  }
  [[nodiscard]] HWY_INLINE std::size_t row_step() const { return b_.stride; }
  [[nodiscard]] HWY_INLINE std::size_t step_step() const { return kUnitRows * b_.stride; }
  HWY_NOINLINE void put_edge(const SplitPart& part, std::size_t step, std::uint32_t* out, std::size_t jump) const {
    const Rows<const float> b{part.x + step * kUnitTerms * b_.stride, b_.stride};
    for (std::size_t j = 0; j < kUnitBlock && j < part.rows; j += kUnitWords) {
      split_right({b.at(0, j), b.stride}, part.terms - step * kUnitTerms, part.rows - j, out + j / kUnitWords * jump);
    }
  }

 private:
  [[nodiscard]] FetchBlock rows_from(std::size_t first) const {
    const std::size_t rows = std::min(most_terms_, k_ - first);
    return {b_.at(rows > 0 ? first : 0), b_.stride * sizeof(float), n_ * sizeof(float), rows};
  }

  Rows<const float> b_;
  std::size_t k_, n_, most_terms_;
  std::size_t begin_ = 0, end_, term_ = 0, column_ = 0;
  FetchBlock fetch_;
};

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
