// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/split_products.h"

#include <algorithm>

#include "tocca/core/fixed_length_vectors.h"
#include "tocca/linalg/blas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/split_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/split_ahead_inl.h"
#include "tocca/linalg/split_inl.h"

#ifndef TOCCA_LINALG_SPLIT_PRODUCTS_ONCE
#define TOCCA_LINALG_SPLIT_PRODUCTS_ONCE
namespace tocca {

// Of matrices in panels so many steps of so many rows of A are split at a time, and as many steps of two tiles of
// columns of B: both stay in the second-level cache, and C goes to memory once for so many terms.
inline constexpr std::size_t kSplitSteps = 16, kSplitRows = 256;

}  // namespace tocca
#endif

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::ColumnsThere;
using detail::InnerPanelProduct;
using detail::kColumnsTogether;
using detail::PanelProduct;
using detail::PanelRows;
using detail::Product;

static_assert(PanelRows<float>::kWidth % kUnitWords == 0, "the columns of a tile lie in one panel");
static_assert(kColumnsTogether % kUnitBlock == 0);

// What becomes of the part of a block that exists, between C and a place of its own.
enum class Edge { kFromC, kToC, kAddToC };

template <class Layout, class P>
void copy_edge(const P& p, std::size_t row, std::size_t column, float* block, Edge edge) {
  const SplitTag d;
  const std::size_t rows = std::min(kUnitBlock, p.m - row);
  for (std::size_t first = 0; first < kUnitBlock && column + first < p.n; first += kUnitWords) {
    const std::size_t columns = std::min(kUnitWords, p.n - column - first);
    for (std::size_t r = 0; r < rows; ++r) {
      float* const there = Layout::c(p, row + r, column + first);
      float* const here = block + r * kUnitBlock + first;
      float* const to = edge == Edge::kFromC ? here : there;
      const float* const from = edge == Edge::kFromC ? there : here;
      std::size_t j = 0;
      for (; j + hn::Lanes(d) <= columns; j += hn::Lanes(d)) {
        const auto numbers = hn::LoadU(d, from + j);
        hn::StoreU(edge == Edge::kAddToC ? hn::Add(numbers, hn::LoadU(d, to + j)) : numbers, d, to + j);
      }
      for (; j < columns; ++j) to[j] = edge == Edge::kAddToC ? to[j] + from[j] : from[j];
    }
  }
}

// A block of C at `row` and `column`, up to two by two tiles.
template <class Layout, class T, class P, class B>
void put_block(T& tiles, const P& p, std::size_t row, std::size_t column, std::size_t steps, SplitFactor a, B& b,
               bool add) {
  const bool high = p.m - row > kUnitRows, wide = p.n - column > kUnitRows;
  const std::size_t rows = high ? kUnitBlock : kUnitRows, columns = wide ? kUnitBlock : kUnitRows;
  const bool apart = add && p.k > detail::kLongestSplitSum;  // as many terms as are split at a time
  const bool in_place = !apart && row + rows <= p.m && column + columns <= Layout::columns(p);
  HWY_ALIGN float edge[kUnitBlock * kUnitBlock];
  SplitTarget to{{edge, edge + kUnitRows, edge + kUnitRows * kUnitBlock, edge + kUnitRows * (kUnitBlock + 1)},
                 kUnitBlock};
  if (in_place) {
    to.stride = Layout::stride(p);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        if ((i == 0 || high) && (j == 0 || wide))
          to.c[2 * i + j] = Layout::c(p, row + i * kUnitRows, column + j * kUnitRows);
      }
    }
  } else if (add && !apart) {
    copy_edge<Layout>(p, row, column, edge, Edge::kFromC);
  }
  add = add && !apart;
  if (high && wide) {
    put_split<2, 2>(tiles, steps, a, b, to, add);
  } else if (high) {
    put_split<2, 1>(tiles, steps, a, b, to, add);
  } else if (wide) {
    put_split<1, 2>(tiles, steps, a, b, to, add);
  } else {
    put_split<1, 1>(tiles, steps, a, b, to, add);
  }
  if (!in_place) copy_edge<Layout>(p, row, column, edge, apart ? Edge::kAddToC : Edge::kToC);
}

// ---- Large products in panels --------------------------------------------------------------------------------------

// C ← op(A) op(B), or with `add` C + that: Layout splits tiles of the factors, and says where C lies. Up to kSteps
// steps of kRows rows at a time, in `memory`.
template <class Layout, std::size_t kSteps, std::size_t kRows, class P>
void multiply(const P& p, bool add, std::uint32_t* memory, ColumnsThere done) {
  std::uint32_t* const split_b = memory;
  std::uint32_t* const split_a = split_b + 2 * kSteps * kSplitStep;
  const std::size_t most_rows = divide_up(divide_up(p.m, divide_up(p.m, kRows)), kUnitBlock) * kUnitBlock;
  constexpr std::size_t kMostTerms = kSteps * kUnitTerms;
  const std::size_t most_terms = divide_up(divide_up(p.k, divide_up(p.k, kMostTerms)), kUnitTerms) * kUnitTerms;
  with_tiles([&](auto& tiles) HWY_ATTR {
    for (std::size_t top = 0; top < p.m; top += most_rows) {
      const std::size_t rows = std::min(most_rows, p.m - top);
      for (std::size_t first = 0; first < p.k; first += most_terms) {
        const std::size_t terms = std::min(most_terms, p.k - first), steps = divide_up(terms, kUnitTerms);
        const auto split = [&](std::uint32_t* out, auto one) HWY_ATTR {
          for (std::size_t s = 0; s < steps; ++s) one(s * kUnitTerms, out + s * kSplitStep);
        };
        for (std::size_t row = 0; row < rows; row += kUnitRows) {
          split(split_a + row / kUnitRows * steps * kSplitStep, [&](std::size_t term, std::uint32_t* out) HWY_ATTR {
            Layout::left(p, top + row, first + term, rows - row, terms - term, out);
          });
        }
        const bool is_last = top + rows == p.m && first + terms == p.k;
        std::size_t there = 0;
        for (std::size_t column = 0; column < p.n; column += kUnitBlock) {
          for (std::size_t x = 0; x < kUnitBlock && column + x < p.n; x += kUnitRows) {
            split(split_b + x / kUnitRows * steps * kSplitStep, [&](std::size_t term, std::uint32_t* out) HWY_ATTR {
              Layout::right(p, first + term, column + x, terms - term, p.n - column - x, out);
            });
          }
          for (std::size_t row = 0; row < rows; row += kUnitBlock) {
            SplitFactor b(split_b, steps * kSplitStep);
            put_block<Layout>(tiles, p, top + row, column, steps,
                              {split_a + row / kUnitRows * steps * kSplitStep, steps * kSplitStep}, b,
                              add || first > 0);
          }
          const std::size_t end = std::min(column + kUnitBlock, p.n);
          if (is_last && (end - there == kColumnsTogether || end == p.n)) {
            done(there, end - there);
            there = end;
          }
        }
      }
    }
  });
}

// A left factor that lies as C's rows do: A is in panels or row by row.
template <class A>
void left_of(const A& a, std::size_t stride, std::size_t row, std::size_t term, std::size_t rows, std::size_t terms,
             std::uint32_t* out) {
  const std::size_t second = terms > kUnitWords ? term + kUnitWords : term;
  split_left({a.at(row, term), stride}, {a.at(row, second), stride}, rows, terms, out);
}

// B row by row, a right factor.
struct RightByRows {
  template <class P>
  static void right(const P& p, std::size_t term, std::size_t column, std::size_t terms, std::size_t columns,
                    std::uint32_t* out) {
    split_right({p.b.at(term, column), p.b.stride}, terms, columns, out);
  }
};

// C row by row, with the columns that it has.
struct TargetByRows {
  template <class P>
  static std::size_t columns(const P& p) {
    return p.n;
  }
  template <class P>
  static std::size_t stride(const P& p) {
    return p.c.stride;
  }
  template <class P>
  static float* c(const P& p, std::size_t row, std::size_t column) {
    return p.c.at(row, column);
  }
};

// A and C in panels, whose last one has room for whole tiles.
struct OuterPanels {
  using P = PanelProduct<float>;
  static constexpr std::size_t kWidth = PanelRows<float>::kWidth;
  static void left(const P& p, std::size_t row, std::size_t term, std::size_t rows, std::size_t terms,
                   std::uint32_t* out) {
    left_of(p.a, kWidth, row, term, rows, terms, out);
  }
  static std::size_t columns(const P& p) { return divide_up(p.n, kWidth) * kWidth; }
  static std::size_t stride(const P& /*p*/) { return kWidth; }
  static float* c(const P& p, std::size_t row, std::size_t column) { return p.c.at(row, column); }
};

struct AB : OuterPanels, RightByRows {};

struct ABt : OuterPanels {
  static void right(const P& p, std::size_t term, std::size_t column, std::size_t terms, std::size_t columns,
                    std::uint32_t* out) {
    split_right_transposed({p.b.at(column, term), p.b.stride}, terms, columns, out);
  }
};

// A and B in panels.
struct AtB : TargetByRows {
  using P = InnerPanelProduct<float>;
  static constexpr std::size_t kWidth = PanelRows<float>::kWidth;
  static void left(const P& p, std::size_t row, std::size_t term, std::size_t rows, std::size_t terms,
                   std::uint32_t* out) {
    split_left_transposed({p.a.at(term, row), kWidth}, rows, terms, out);
  }
  static void right(const P& p, std::size_t term, std::size_t column, std::size_t terms, std::size_t /*columns*/,
                    std::uint32_t* out) {
    split_right({p.b.at(term, column), kWidth}, terms, kUnitWords, out);
  }
};

// ---- Row by row ----------------------------------------------------------------------------------------------------

struct ByRowsLayout : TargetByRows, RightByRows {
  static void left(const Product<float>& p, std::size_t row, std::size_t term, std::size_t rows, std::size_t terms,
                   std::uint32_t* out) {
    left_of(p.a, p.a.stride, row, term, rows, terms, out);
  }
};

// Rows are few enough that B is split once for all of them. The sums of up to two tiles of rows stay in registers;
// those of more go through the first-level cache every few steps.
template <std::size_t kTiles, std::size_t kGroup>
void few_a_b(const Product<float>& p) {
  constexpr std::size_t kSteps = 4, kTerms = kSteps * kUnitTerms;
  static_assert(kSteps % kGroup == 0);
  HWY_ALIGN std::uint32_t a[kTiles * kSteps * kSplitStep];
  using Right = SplitAhead<kGroup, ColumnsOfB>;
  HWY_ALIGN std::uint32_t b[Right::kRoom];
  const std::size_t pairs = divide_up(p.m, kUnitBlock);
  with_tiles([&](auto& tiles) HWY_ATTR {
    Right right(ColumnsOfB(p, kTerms), divide_up(kUnitRows, 6 * pairs), b);
    for (std::size_t first = 0; first < p.k; first += kTerms) {
      const std::size_t terms = std::min(kTerms, p.k - first), steps = divide_up(terms, kUnitTerms);
      for (std::size_t row = 0; row < p.m; row += kUnitRows) {
        for (std::size_t s = 0; s < steps; ++s) {
          ByRowsLayout::left(p, row, first + s * kUnitTerms, p.m - row, terms - s * kUnitTerms,
                             a + (row / kUnitRows * steps + s) * kSplitStep);
        }
      }
      const std::size_t jump = steps * kSplitStep;
      for (std::size_t column = 0; column < p.n; column += kUnitBlock) {
        if constexpr (kGroup == 1) {
          put_block<ByRowsLayout>(tiles, p, 0, column, steps, {a, jump}, right, p.add || first > 0);
        } else {
          for (std::size_t s = 0; s < steps; s += kGroup) {
            const std::uint32_t* const here = right.step();
            for (std::size_t row = 0; row < p.m; row += kUnitBlock) {
              SplitMeanwhile<Right> some(here, right);
              put_block<ByRowsLayout>(tiles, p, row, column, std::min(kGroup, steps - s),
                                      {a + row / kUnitRows * jump + s * kSplitStep, jump}, some,
                                      p.add || first > 0 || s > 0);
            }
          }
        }
      }
    }
  });
}

void by_rows_a_b(const Product<float>& p) {
  constexpr auto kFew = static_cast<std::size_t>(kFewRows);
  if (p.m <= kUnitBlock) {
    few_a_b<2, 1>(p);
  } else if (p.m <= kFew) {
    few_a_b<kFew / kUnitRows, 4>(p);
  } else {
    constexpr std::size_t kSteps = 4, kRows = 128;
    HWY_ALIGN std::uint32_t memory[(kRows / kUnitRows + 2) * kSteps * kSplitStep];
    multiply<ByRowsLayout, kSteps, kRows>(p, p.add, memory, [](std::size_t, std::size_t) {});
  }
}

// Highway dispatches functions, not templates.
template <class Layout, class P>
void multiply_panels(const P& p, ColumnsThere done) {
  multiply<Layout, kSplitSteps, kSplitRows>(p, false, reinterpret_cast<std::uint32_t*>(p.packed), done);
}
void a_b(const PanelProduct<float>& product, ColumnsThere done) { multiply_panels<AB>(product, done); }
void a_bt(const PanelProduct<float>& product, ColumnsThere done) { multiply_panels<ABt>(product, done); }
void at_b(const InnerPanelProduct<float>& product) {
  multiply_panels<AtB>(product, [](std::size_t, std::size_t) {});
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

std::size_t detail::split_room() { return (kSplitRows / kUnitRows + 2) * kSplitSteps * 3 * kUnitTile; }

bool detail::split_pays(std::size_t samples, std::size_t inputs, std::size_t outputs) {
  constexpr std::size_t kLeastSamples = 28, kLeastWeights = 16384;
  return matrix_unit() != MatrixUnit::kNone && samples >= kLeastSamples && inputs >= kUnitBlock &&
         outputs >= kUnitBlock && inputs * outputs >= kLeastWeights;
}
bool detail::split_is_faster(const Product<float>& p) { return p.alpha == 1 && split_pays(p.m, p.k, p.all_columns); }

HWY_EXPORT(a_b);
HWY_EXPORT(a_bt);
HWY_EXPORT(at_b);
HWY_EXPORT(by_rows_a_b);
void detail::split_a_b(const Product<float>& product) { HWY_DYNAMIC_DISPATCH(by_rows_a_b)(product); }
void detail::split_a_b(const PanelProduct<float>& product, ColumnsThere done) {
  HWY_DYNAMIC_DISPATCH(a_b)(product, done);
}
void detail::split_a_bt(const PanelProduct<float>& product, ColumnsThere done) {
  HWY_DYNAMIC_DISPATCH(a_bt)(product, done);
}
void detail::split_at_b(const InnerPanelProduct<float>& product) { HWY_DYNAMIC_DISPATCH(at_b)(product); }

}  // namespace tocca
#endif
