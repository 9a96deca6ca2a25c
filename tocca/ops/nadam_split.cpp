// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/ops/nadam_split.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tocca/core/fixed_length_vectors.h"
#include "tocca/core/panels.h"
#include "tocca/linalg/split_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/nadam_split.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/split_ahead_inl.h"
#include "tocca/linalg/split_inl.h"
#include "tocca/ops/nadam_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::SplitOuter;

static_assert(detail::kSplitWeightRows % kUnitBlock == 0);
constexpr auto kMostSamples = static_cast<std::size_t>(kSmallBatch);

// Steps of weights that are split at a time where samples fill more than one block: their sums go through memory then.
constexpr std::size_t kTogether = 4;

// Rows of weights, a left factor, of which `rows` exist.
class RowsOfWeights {
 public:
  RowsOfWeights(Rows<const float> weights, std::size_t rows, std::size_t columns)
      : weights_(weights), rows_(rows), columns_(columns) {}

  [[nodiscard]] HWY_INLINE SplitPart part(std::size_t terms) const {
    return {weights_.at(0, column_), std::min(terms, columns_ - column_), rows_};
  }
  HWY_INLINE void advance(std::size_t terms) { column_ = std::min(column_ + terms, columns_); }
  HWY_INLINE void put_row(const float* x, std::uint32_t* out, std::size_t jump) const {
    const float* const below = x + kUnitRows * weights_.stride;
    split_row(x, x + kUnitWords, out);
    split_row(below, below + kUnitWords, out + jump);
  }
  [[nodiscard]] HWY_INLINE std::size_t row_step() const { return weights_.stride; }
  // Back to the first row, and on by a step.
  [[nodiscard]] HWY_INLINE std::ptrdiff_t step_step() const {
    return static_cast<std::ptrdiff_t>(kUnitTerms) - static_cast<std::ptrdiff_t>(kUnitRows * weights_.stride);
  }
  HWY_NOINLINE void put_edge(const SplitPart& part, std::size_t step, std::uint32_t* out, std::size_t jump) const {
    const std::size_t left = part.terms - step * kUnitTerms, second = left > kUnitWords ? kUnitWords : 0;
    const Rows<const float> x{part.x + step * kUnitTerms, weights_.stride};
    for (std::size_t row = 0; row < kUnitBlock && row < part.rows; row += kUnitRows) {
      split_left({x.at(row), x.stride}, {x.at(row, second), x.stride}, part.rows - row, left,
                 out + row / kUnitRows * jump);
    }
  }

 private:
  Rows<const float> weights_;
  std::size_t rows_, columns_, column_ = 0;
};

using StepConstants = Constants<SplitTag>;

// A right factor, while the weights whose gradient was made before are updated, 16 at a time.
class UpdateMeanwhile : public SplitFactor {
 public:
  // meanwhile() updates `each` times 16. `behind` is how many weights further on the next rows lie.
  UpdateMeanwhile(const StepConstants& constants, std::size_t each, std::size_t behind)
      : SplitFactor(nullptr, 0), constants_(&constants), each_(each), behind_(behind) {}

  // What is multiplied next.
  void multiply(const std::uint32_t* first, std::size_t jump) { static_cast<SplitFactor&>(*this) = {first, jump}; }
  // What is updated next: `times` 16.
  void update(const NadamArrays<float>& arrays, const float* gradient, std::size_t times) {
    arrays_ = arrays;
    gradient_ = gradient;
    left_ = times;
  }
  HWY_INLINE void meanwhile() {
    for (std::size_t i = std::min(each_, left_); i > 0; --i) next();
  }
  void finish() {
    while (left_ > 0) next();
  }

 private:
  HWY_INLINE void next() {
    const SplitTag d;
    // Rows are multiplied while those before are updated: their moments are needed next, and the weights behind them.
    // Not pointers, since they may lie behind the end.
    const auto ahead = [&](const float* array, std::size_t groups) HWY_ATTR {
      const auto line = reinterpret_cast<std::uintptr_t>(array) + groups * behind_ * sizeof(float);
      __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
    };
    ahead(arrays_.parameters, 2);
    ahead(arrays_.first, 1);
    ahead(arrays_.second, 1);
    for (std::size_t j = 0; j < kUnitWords; j += hn::Lanes(d)) {
      update_vector(d, *constants_, hn::Load(d, gradient_ + j), arrays_.parameters + j, arrays_.first + j,
                    arrays_.second + j);
    }
    gradient_ += kUnitWords;
    arrays_ = {arrays_.parameters + kUnitWords, arrays_.first + kUnitWords, arrays_.second + kUnitWords};
    --left_;
  }

  const StepConstants* constants_;
  std::size_t each_, behind_;
  NadamArrays<float> arrays_{};
  const float* gradient_ = nullptr;
  std::size_t left_ = 0;
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

// Columns `row` to `row` + `count` of dx ← the transpose of `sums`, whose rows are kMostSamples long.
HWY_NOINLINE void put_transposed(const OuterProduct<float>& g, std::size_t row, std::size_t count, const float* sums) {
  HWY_ALIGN float turned[kUnitTile];
  for (std::size_t first = 0; first < count; first += kUnitRows) {
    const std::size_t width = std::min(kUnitRows, count - first);
    for (std::size_t sample = 0; sample < g.samples; sample += kUnitWords) {
      turn_tile({sums + first * kMostSamples + sample, kMostSamples}, turned);
      for (std::size_t i = 0; i < kUnitWords && sample + i < g.samples; ++i) {
        float* const to = g.dx.at(sample + i, row + first);
        if (width == kUnitRows) {
          std::memcpy(to, turned + i * kUnitWords, kUnitWords * sizeof(float));
        } else {
          std::copy_n(turned + i * kUnitWords, width, to);
        }
      }
    }
  }
}

// Columns `row` to `row` + `count` of dx, as the transpose of W dyᵀ.
template <class T>
void input_gradient(T& tiles, const OuterProduct<float>& g, const float* weights, std::size_t row, std::size_t count,
                    const std::uint32_t* dy_transposed, UpdateMeanwhile& b) {
  const Rows<const float> w{weights + row * g.columns, g.columns};
  const std::size_t steps = divide_up(g.columns, kUnitTerms), jump = steps * kSplitStep;
  HWY_ALIGN float sums[kUnitBlock * kMostSamples];
  using Together = SplitAhead<kTogether, RowsOfWeights>;
  HWY_ALIGN std::uint32_t places[Together::kRoom];
  const RowsOfWeights source(w, count, g.columns);
  if (g.samples <= kUnitBlock) {
    SplitAhead<1, RowsOfWeights> a(source, divide_up(kUnitRows, 6), places);
    b.multiply(dy_transposed, jump);
    put_sums(tiles, g.samples > kUnitRows, steps, a, b, sums, kMostSamples, false);
  } else {
    const std::size_t pairs = divide_up(g.samples, kUnitBlock);
    Together a(source, divide_up(kUnitRows, 6 * pairs), places);
    for (std::size_t s = 0; s < steps; s += kTogether) {
      const std::uint32_t* const here = a.step();
      for (std::size_t sample = 0; sample < g.samples; sample += kUnitBlock) {
        SplitMeanwhile<Together> some(here, a);
        b.multiply(dy_transposed + sample / kUnitRows * jump + s * kSplitStep, jump);
        put_sums(tiles, g.samples - sample > kUnitRows, std::min(kTogether, steps - s), some, b, sums + sample,
                 kMostSamples, s > 0);
      }
    }
  }
  put_transposed(g, row, count, sums);
}

// The gradient of rows `row` to `row` + `count` of weights, with room for whole tiles behind. Columns that do not fill
// tiles come first: what is written beyond a row lies where the next one begins, and is written again.
template <class T>
void weight_gradient(T& tiles, const OuterProduct<float>& g, const std::uint32_t* dy, std::size_t row,
                     std::size_t count, float* gradient, UpdateMeanwhile& b) {
  const std::size_t steps = divide_up(g.samples, kUnitTerms), jump = steps * kSplitStep;
  HWY_ALIGN std::uint32_t x[2 * kMostSamples / kUnitTerms * kSplitStep];
  for (std::size_t first = 0; first < kUnitBlock; first += kUnitRows) {
    const std::size_t there = std::min(first, count);
    for (std::size_t s = 0; s < steps; ++s) {
      split_left_transposed({g.x.at(s * kUnitTerms, row + there), g.x.stride}, count - there,
                            g.samples - s * kUnitTerms, x + first / kUnitRows * jump + s * kSplitStep);
    }
  }
  const auto put = [&](std::size_t column) HWY_ATTR {
    SplitFactor a(x, jump);
    b.multiply(dy + column / kUnitRows * jump, jump);
    put_sums(tiles, g.columns - column > kUnitRows, steps, a, b, gradient + column, g.columns, false);
  };
  const std::size_t whole = g.columns / kUnitBlock * kUnitBlock;
  if (whole < g.columns) put(whole);
  for (std::size_t column = 0; column < whole; column += kUnitBlock) put(column);
}

// Two times the gradients of a group of rows: a line for where the weights lie and what waits, and room for tiles
// behind the last row.
std::size_t group_size(const OuterProduct<float>& g) {
  return divide_up(kUnitBlock * (g.columns + 1), kUnitWords) * kUnitWords + kUnitWords;
}

SplitOuter prepare(const OuterProduct<float>& g, Workspace& work, std::size_t threads) {
  const std::size_t samples = divide_up(g.samples, kUnitTerms), columns = divide_up(g.columns, kUnitTerms);
  // Whole blocks, of which the second tile may not exist.
  const auto room = [&](std::size_t tiles, std::size_t steps) {
    return work.array<std::uint32_t>(divide_up(tiles, kUnitBlock) * 2 * steps * kSplitStep).data();
  };
  std::uint32_t* const dy = room(g.columns, samples);
  for (std::size_t column = 0; column < g.columns; column += kUnitWords) {
    for (std::size_t s = 0; s < samples; ++s) {
      split_right({g.dy.at(s * kUnitTerms, column), g.dy.stride}, g.samples - s * kUnitTerms, g.columns - column,
                  dy + (column / kUnitWords * samples + s) * kSplitStep);
    }
  }
  std::uint32_t* const transposed = g.dx.data ? room(g.samples, columns) : nullptr;
  for (std::size_t sample = 0; g.dx.data && sample < g.samples; sample += kUnitWords) {
    for (std::size_t s = 0; s < columns; ++s) {
      split_right_transposed({g.dy.at(sample, s * kUnitTerms), g.dy.stride}, g.columns - s * kUnitTerms,
                             g.samples - sample, transposed + (sample / kUnitWords * columns + s) * kSplitStep);
    }
  }
  return {dy, transposed, work.array<float>(threads * 2 * group_size(g)).data()};
}

// While the products of a group of rows are made, the weights of the group before are updated. Gradients lie like their
// weights in relation to the boundaries of cache lines, as in nadam_kernel.cpp; what does not fill a line at the end of
// a group waits in front of the next group's.
void update_rows(const NadamStep& step, const OuterProduct<float>& g, const NadamArrays<float>& a,
                 const SplitOuter& split, std::size_t first, std::size_t last, std::size_t thread) {
  const StepConstants constants(SplitTag(), step);
  const hn::CappedTag<float, 1> one;
  const auto at = [&](std::size_t i) { return NadamArrays<float>{a.parameters + i, a.first + i, a.second + i}; };
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(a.parameters) / sizeof(float) % kUnitWords;
  const std::size_t samples = divide_up(g.samples, kUnitTerms), columns = divide_up(g.columns, kUnitTerms);
  const std::size_t calls = 6 * samples * columns * (g.dx.data ? 2 : 1);
  UpdateMeanwhile b(constants, divide_up(kUnitBlock * g.columns / kUnitWords, calls), kUnitBlock * g.columns);
  float* room = split.gradients + thread * 2 * group_size(g);
  float* other_room = room + group_size(g);
  std::size_t begin = first * g.columns;  // where the gradients that wait begin
  with_tiles([&](auto& tiles) HWY_ATTR {
    for (std::size_t row = first; row < last; row += kUnitBlock) {
      const std::size_t count = std::min(kUnitBlock, last - row), end = (row + count) * g.columns;
      const std::size_t past = (offset + begin) % kUnitWords;
      float* const gradient = room + past;  // of weight number `begin`
      if (g.dx.data) input_gradient(tiles, g, a.parameters, row, count, split.dy_transposed, b);
      weight_gradient(tiles, g, split.dy, row, count, gradient + (row * g.columns - begin), b);
      b.finish();
      NoFetch nothing;
      const auto singly = [&](std::size_t from, std::size_t to)
                              HWY_ATTR { update_vectors(one, step, at(begin), gradient, from, to, nothing); };
      const std::size_t alone = past == 0 ? 0 : std::min(end - begin, kUnitWords - past);
      singly(0, alone);
      const std::size_t times = (end - begin - alone) / kUnitWords, done = alone + times * kUnitWords;
      b.update(at(begin + alone), gradient + alone, times);
      if (row + count == last) singly(done, end - begin);
      std::copy_n(gradient + done, end - begin - done, other_room);
      begin += done;
      std::swap(room, other_room);
    }
  });
  b.finish();
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

bool detail::split_update_is_faster(const OuterProduct<float>& g) {
  return split_pays(g.samples, g.rows, g.columns) && g.samples <= static_cast<std::size_t>(kSmallBatch) &&
         g.columns <= kLongestSplitSum;
}

HWY_EXPORT(prepare);
HWY_EXPORT(update_rows);
detail::SplitOuter detail::split_prepare(const OuterProduct<float>& gradient, Workspace& work, std::size_t threads) {
  return HWY_DYNAMIC_DISPATCH(prepare)(gradient, work, threads);
}
void detail::split_update_rows(const NadamStep& step, const OuterProduct<float>& gradient,
                               const NadamArrays<float>& arrays, const SplitOuter& split, std::size_t first,
                               std::size_t last, std::size_t thread) {
  HWY_DYNAMIC_DISPATCH(update_rows)(step, gradient, arrays, split, first, last, thread);
}

}  // namespace tocca
#endif
