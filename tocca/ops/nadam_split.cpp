// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/ops/nadam_split.h"

#include <algorithm>
#include <cstring>

#include "tocca/core/fixed_length_vectors.h"
#include "tocca/linalg/matrix_unit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/nadam_split.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/split_inl.h"
#include "tocca/ops/nadam_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::SplitOuter;

// Two tiles each way: rows of weights with columns of them, or with samples.
constexpr std::size_t kBlock = 2 * kUnitRows;
static_assert(detail::kSplitWeightRows == kBlock);
constexpr std::size_t kMostSamples = 128;

// Steps of weights that are split at a time where samples fill more than one block: their sums go through memory then.
constexpr std::size_t kTogether = 4;

// Splits rows of weights a few steps at a time, while those before are multiplied, and fetches what the next rows need.
template <std::size_t kGroup>
class SplitWeights {
 public:
  static constexpr std::size_t kRoom = 2 * 2 * kGroup * kSplitStep;  // words

  // `rows` of them exist. meanwhile() splits `rows_each` of both tiles and fetches `lines_each` lines.
  SplitWeights(Rows<const float> weights, std::size_t rows, std::size_t columns, std::size_t rows_each,
               std::size_t lines_each, const Fetch<3>& fetch, std::uint32_t* places)
      : weights_(weights),
        rows_(rows),
        columns_(columns),
        rows_each_(rows_each),
        lines_each_(lines_each),
        place_(places),
        fetch_(fetch) {
    prepare();
  }

  HWY_INLINE const std::uint32_t* step() {
    while (rows_left_ > 0) split_next();
    const std::uint32_t* const here = place_;
    place_ = odd_ ? place_ - kRoom / 2 : place_ + kRoom / 2;
    odd_ = !odd_;
    column_ += kGroup * kUnitTerms;
    prepare();
    return here;
  }
  [[nodiscard]] HWY_INLINE std::size_t jump() const { return kGroup * kSplitStep; }
  HWY_INLINE void meanwhile() {
    for (std::size_t i = std::min(rows_each_, rows_left_); i > 0; --i) split_next();
    for (std::size_t i = 0; i < lines_each_; ++i) fetch_.next();
  }
  [[nodiscard]] const Fetch<3>& fetch() const { return fetch_; }

 private:
  HWY_INLINE void split_next() {
    const float* const below = x_ + kUnitRows * weights_.stride;
    split_row(x_, x_ + kUnitWords, out_);
    split_row(below, below + kUnitWords, out_ + jump());
    x_ += weights_.stride;
    out_ += kUnitWords;
    if (--rows_left_ % kUnitRows != 0) return;
    x_ += kUnitTerms;
    x_ -= kUnitRows * weights_.stride;
    out_ += kSplitStep - kUnitTile;
  }

  // What does not fill tiles is split at once.
  HWY_INLINE void prepare() {
    rows_left_ = 0;
    if (column_ >= columns_) return;
    const std::size_t terms = std::min(kGroup * kUnitTerms, columns_ - column_);
    const std::size_t whole = rows_ >= kBlock ? terms / kUnitTerms : 0;
    x_ = weights_.at(0, column_);
    out_ = place_;
    rows_left_ = whole * kUnitRows;
    if (whole * kUnitTerms < terms) split_edge({x_, weights_.stride}, whole, terms, rows_, place_);
  }
  HWY_NOINLINE static void split_edge(Rows<const float> x, std::size_t step, std::size_t terms, std::size_t rows,
                                      std::uint32_t* out) {
    for (; step * kUnitTerms < terms; ++step) {
      for (std::size_t row = 0; row < kBlock && row < rows; row += kUnitRows) {
        split_left({x.at(row, step * kUnitTerms), x.stride}, {x.at(row, step * kUnitTerms + kUnitWords), x.stride},
                   rows - row, terms - step * kUnitTerms, out + (row / kUnitRows * kGroup + step) * kSplitStep);
      }
    }
  }

  Rows<const float> weights_;
  std::size_t rows_, columns_, rows_each_, lines_each_;
  std::size_t column_ = 0;  // of the steps that are split
  const float* x_ = nullptr;
  std::size_t rows_left_ = 0;
  std::uint32_t *place_, *out_ = nullptr;
  bool odd_ = false;
  Fetch<3> fetch_;
};

// Steps of weights that are there, while others are split.
class WeightsMeanwhile : public SplitFactor {
 public:
  WeightsMeanwhile(const std::uint32_t* first, SplitWeights<kTogether>& ahead)
      : SplitFactor(first, ahead.jump()), ahead_(&ahead) {}
  HWY_INLINE void meanwhile() { ahead_->meanwhile(); }

 private:
  SplitWeights<kTogether>* ahead_;
};

// A block of sums in rows of `stride`, of which the unit writes whole tiles.
template <class T, class A, class B>
void put_sums(T& tiles, bool wide, std::size_t steps, A& a, B& b, float* sums, std::size_t stride, bool add) {
  const SplitTarget to{{sums, sums + kUnitWords, sums + kUnitRows * stride, sums + kUnitRows * stride + kUnitWords},
                       stride};
  if (wide) {
    put_split<2, 2>(tiles, steps, a, b, to, add);
  } else {
    put_split<2, 1>(tiles, steps, a, b, to, add);
  }
}

// Columns `row` to `row` + `count` of dx, as the transpose of W dyᵀ.
template <class T>
void input_gradient(T& tiles, const OuterProduct<float>& g, const float* weights, std::size_t row, std::size_t count,
                    const std::uint32_t* dy_transposed, std::size_t lines_each, Fetch<3>& fetch) {
  const Rows<const float> w{weights + row * g.columns, g.columns};
  const std::size_t steps = divide_up(g.columns, kUnitTerms), jump = steps * kSplitStep;
  HWY_ALIGN float sums[kBlock * kMostSamples];
  HWY_ALIGN std::uint32_t places[SplitWeights<kTogether>::kRoom];
  if (g.samples <= kBlock) {
    SplitWeights<1> a(w, count, g.columns, (kUnitRows + 5) / 6, lines_each, fetch, places);
    SplitFactor b(dy_transposed, jump);
    put_sums(tiles, g.samples > kUnitRows, steps, a, b, sums, kMostSamples, false);
    fetch = a.fetch();
  } else {
    const std::size_t pairs = divide_up(g.samples, kBlock);
    SplitWeights<kTogether> a(w, count, g.columns, divide_up(kUnitRows, 6 * pairs), divide_up(lines_each, pairs), fetch,
                              places);
    for (std::size_t s = 0; s < steps; s += kTogether) {
      const std::uint32_t* const here = a.step();
      for (std::size_t sample = 0; sample < g.samples; sample += kBlock) {
        WeightsMeanwhile some(here, a);
        SplitFactor b(dy_transposed + sample / kUnitRows * jump + s * kSplitStep, jump);
        put_sums(tiles, g.samples - sample > kUnitRows, std::min(kTogether, steps - s), some, b, sums + sample,
                 kMostSamples, s > 0);
      }
    }
    fetch = a.fetch();
  }
  HWY_ALIGN float turned[kMostSamples * kUnitRows];
  for (std::size_t first = 0; first < count; first += kUnitRows) {
    pack_rows(SplitTag(), Rows<const float>{sums + first * kMostSamples, kMostSamples}, g.samples, kUnitRows, kUnitRows,
              turned);
    const std::size_t width = std::min(kUnitRows, count - first);
    for (std::size_t i = 0; i < g.samples; ++i) {
      float* const to = g.dx.at(i, row + first);
      if (width == kUnitRows) {
        std::memcpy(to, turned + i * kUnitRows, kUnitRows * sizeof(float));
      } else {
        std::copy_n(turned + i * kUnitRows, width, to);
      }
    }
  }
}

// The constants of a step in vectors of 16, 4 and 1.
struct AllConstants {
  using Four = hn::CappedTag<float, 4>;
  using One = hn::CappedTag<float, 1>;
  explicit AllConstants(const NadamStep& step) : whole(SplitTag(), step), four(Four(), step), one(One(), step) {}
  Constants<SplitTag> whole;
  Constants<Four> four;
  Constants<One> one;
};

// `columns` of some rows, in rows of `stride`; their gradients lie in rows of kBlock.
HWY_NOINLINE void update_columns(const AllConstants& c, NadamArrays<float> a, std::size_t stride, std::size_t rows,
                                 std::size_t columns, const float* gradient) {
  for (std::size_t r = 0; r < rows; ++r, gradient += kBlock) {
    std::size_t j = 0;
    const auto fill = [&](auto d, const auto& constants) HWY_ATTR {
      for (; j + hn::Lanes(d) <= columns; j += hn::Lanes(d)) {
        update_vector(d, constants, hn::LoadU(d, gradient + j), a.parameters + j, a.first + j, a.second + j);
      }
    };
    fill(SplitTag(), c.whole);
    fill(AllConstants::Four(), c.four);
    fill(AllConstants::One(), c.one);
    a = {a.parameters + stride, a.first + stride, a.second + stride};
  }
}

// Columns of dy, while the weights whose gradient was made before are updated and the next rows are fetched.
class UpdateMeanwhile : public SplitFactor {
 public:
  // meanwhile() updates `vectors_each` and fetches `lines_each` lines for each.
  UpdateMeanwhile(const AllConstants& constants, std::size_t stride, std::size_t vectors_each, std::size_t lines_each,
                  const Fetch<3>& fetch)
      : SplitFactor(nullptr, 0),
        constants_(constants.whole),
        stride_(stride),
        vectors_each_(vectors_each),
        lines_each_(lines_each),
        fetch_(fetch) {}

  // What is multiplied next.
  void multiply(const std::uint32_t* first, std::size_t jump) { static_cast<SplitFactor&>(*this) = {first, jump}; }
  // What is updated meanwhile: rows of kBlock columns, with gradients one after the other.
  void update(const NadamArrays<float>& arrays, std::size_t rows, const float* gradient) {
    arrays_ = arrays;
    gradient_ = gradient;
    left_ = rows * kBlock / hn::Lanes(SplitTag());
  }
  HWY_INLINE void meanwhile() {
    for (std::size_t i = std::min(vectors_each_, left_); i > 0; --i) next();
  }
  void finish() {
    while (left_ > 0) next();
  }

 private:
  HWY_INLINE void next() {
    const SplitTag d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < lines_each_; ++i) fetch_.next();
    update_vector(d, constants_, hn::Load(d, gradient_), arrays_.parameters, arrays_.first, arrays_.second);
    gradient_ += lanes;
    // The columns of a row, then the next row.
    const std::size_t step = --left_ % (kBlock / lanes) == 0 ? stride_ - kBlock + lanes : lanes;
    arrays_ = {arrays_.parameters + step, arrays_.first + step, arrays_.second + step};
  }

  Constants<SplitTag> constants_;
  std::size_t stride_, vectors_each_, lines_each_;
  NadamArrays<float> arrays_{};
  const float* gradient_ = nullptr;
  std::size_t left_ = 0;  // vectors
  Fetch<3> fetch_;
};

// The gradient of rows `row` to `row` + `count` of weights, 32 columns at a time, and their update.
template <class T>
void update_group(T& tiles, const AllConstants& constants, const OuterProduct<float>& g, const NadamArrays<float>& a,
                  const std::uint32_t* dy, std::size_t row, std::size_t count, std::size_t lines_each,
                  const Fetch<3>& fetch) {
  const std::size_t steps = divide_up(g.samples, kUnitTerms), jump = steps * kSplitStep;
  HWY_ALIGN std::uint32_t x[2 * kMostSamples / kUnitTerms * kSplitStep];
  for (std::size_t first = 0; first < count; first += kUnitRows) {
    for (std::size_t s = 0; s < steps; ++s) {
      split_left_transposed({g.x.at(s * kUnitTerms, row + first), g.x.stride}, count - first,
                            g.samples - s * kUnitTerms, x + first / kUnitRows * jump + s * kSplitStep);
    }
  }
  HWY_ALIGN float gradients[2][kBlock * kBlock];
  const auto arrays_at = [&](std::size_t column) {
    const std::size_t i = row * g.columns + column;
    return NadamArrays<float>{a.parameters + i, a.first + i, a.second + i};
  };
  constexpr std::size_t kVectors = kBlock * kBlock / kUnitWords;
  UpdateMeanwhile b(constants, g.columns, divide_up(kVectors, 6 * steps), lines_each, fetch);
  for (std::size_t column = 0, at = 0; column < g.columns; column += kBlock, at = 1 - at) {
    SplitFactor left(x, jump);
    b.multiply(dy + column / kUnitRows * jump, jump);
    put_sums(tiles, g.columns - column > kUnitRows, steps, left, b, gradients[at], kBlock, false);
    b.finish();
    if (g.columns - column < kBlock) {
      update_columns(constants, arrays_at(column), g.columns, count, g.columns - column, gradients[at]);
    } else {
      b.update(arrays_at(column), count, gradients[at]);
    }
  }
  b.finish();
}

SplitOuter prepare(const OuterProduct<float>& g, Workspace& work) {
  const std::size_t samples = divide_up(g.samples, kUnitTerms), columns = divide_up(g.columns, kUnitTerms);
  // Whole blocks, of which the second tile may not exist.
  const auto room = [&](std::size_t tiles, std::size_t steps) {
    return work.array<std::uint32_t>(divide_up(tiles, kBlock) * 2 * steps * kSplitStep).data();
  };
  std::uint32_t* const dy = room(g.columns, samples);
  for (std::size_t column = 0; column < g.columns; column += kUnitWords) {
    for (std::size_t s = 0; s < samples; ++s) {
      split_right({g.dy.at(s * kUnitTerms, column), g.dy.stride}, g.samples - s * kUnitTerms, g.columns - column,
                  dy + (column / kUnitWords * samples + s) * kSplitStep);
    }
  }
  if (!g.dx.data) return {dy, nullptr};
  std::uint32_t* const transposed = room(g.samples, columns);
  for (std::size_t sample = 0; sample < g.samples; sample += kUnitWords) {
    for (std::size_t s = 0; s < columns; ++s) {
      split_right_transposed({g.dy.at(sample, s * kUnitTerms), g.dy.stride}, g.columns - s * kUnitTerms,
                             g.samples - sample, transposed + (sample / kUnitWords * columns + s) * kSplitStep);
    }
  }
  return {dy, transposed};
}

void update_rows(const NadamStep& step, const OuterProduct<float>& g, const NadamArrays<float>& a,
                 const SplitOuter& split, std::size_t first, std::size_t last) {
  const AllConstants constants(step);
  const std::size_t size = g.rows * g.columns;
  with_tiles([&](auto& tiles) HWY_ATTR {
    for (std::size_t row = first; row < last; row += kBlock) {
      const std::size_t count = std::min(kBlock, last - row), end = (row + count) * g.columns;
      Fetch<3> fetch({a.parameters, a.first, a.second}, end * sizeof(float),
                     std::min(end + kBlock * g.columns, size) * sizeof(float));
      // A third of the lines for each of the products and the update's three arrays.
      if (g.dx.data) input_gradient(tiles, g, a.parameters, row, count, split.dy_transposed, 20, fetch);
      update_group(tiles, constants, g, a, split.dy, row, count, g.dx.data ? 1 : 3, fetch);
    }
  });
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

bool detail::split_update_is_faster(const OuterProduct<float>& g) {
  return matrix_unit() != MatrixUnit::kNone && g.samples >= 8 && g.samples <= 128 && g.rows >= kSplitWeightRows &&
         g.columns >= kUnitTerms && g.rows * g.columns >= 16384;
}

HWY_EXPORT(prepare);
HWY_EXPORT(update_rows);
detail::SplitOuter detail::split_prepare(const OuterProduct<float>& gradient, Workspace& work) {
  return HWY_DYNAMIC_DISPATCH(prepare)(gradient, work);
}
void detail::split_update_rows(const NadamStep& step, const OuterProduct<float>& gradient,
                               const NadamArrays<float>& arrays, const SplitOuter& split, std::size_t first,
                               std::size_t last) {
  HWY_DYNAMIC_DISPATCH(update_rows)(step, gradient, arrays, split, first, last);
}

}  // namespace tocca
#endif
