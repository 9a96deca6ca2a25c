// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/split_products.h"

#include <algorithm>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/split_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/split_inl.h"

#ifndef TOCCA_LINALG_SPLIT_PRODUCTS_ONCE
#define TOCCA_LINALG_SPLIT_PRODUCTS_ONCE
namespace tocca {

// So many steps of so many rows of A are split at a time and stay in the second-level cache, and as many steps of two
// tiles of columns of B in the first-level one.
inline constexpr std::size_t kSplitSteps = 4, kSplitRows = 1024;
inline constexpr std::size_t kSplitBlock = 2 * detail::kUnitRows;
static_assert(detail::kColumnsTogether % kSplitBlock == 0);

}  // namespace tocca
#endif

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::ColumnsThere;
using detail::InnerPanelProduct;
using detail::kColumnsTogether;
using detail::PanelProduct;
using detail::PanelRows;

static_assert(PanelRows<float>::kWidth % kUnitWords == 0, "the columns of a tile lie in one panel");

// Copies the part of a block that exists to or from a place of its own.
template <class Layout, class P>
void copy_edge(const P& p, std::size_t row, std::size_t column, float* block, bool to_c) {
  const std::size_t rows = std::min(kSplitBlock, p.m - row), columns = std::min(kSplitBlock, p.n - column);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < columns; ++j) {
      float& there = *Layout::c(p, row + r, column + j);
      float& here = block[r * kSplitBlock + j];
      (to_c ? there : here) = to_c ? here : there;
    }
  }
}

// A block of C at `row` and `column`, up to two by two tiles.
template <class Layout, class T, class P>
void put_block(T& tiles, const P& p, std::size_t row, std::size_t column, std::size_t steps, const std::uint32_t* a,
               const std::uint32_t* b, bool add) {
  const bool high = p.m - row > kUnitRows, wide = p.n - column > kUnitRows;
  const std::size_t rows = high ? kSplitBlock : kUnitRows, columns = wide ? kSplitBlock : kUnitRows;
  const bool exists = row + rows <= p.m && column + columns <= Layout::columns(p);
  HWY_ALIGN float edge[kSplitBlock * kSplitBlock];
  SplitTarget to{{edge, edge + kUnitRows, edge + kUnitRows * kSplitBlock, edge + kUnitRows * (kSplitBlock + 1)},
                 kSplitBlock};
  if (exists) {
    to.stride = Layout::stride(p);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        if ((i == 0 || high) && (j == 0 || wide))
          to.c[2 * i + j] = Layout::c(p, row + i * kUnitRows, column + j * kUnitRows);
      }
    }
  } else if (add) {
    copy_edge<Layout>(p, row, column, edge, false);
  }
  const std::size_t jump = steps * kSplitStep;
  const auto nothing = [] {};
  if (high && wide) {
    put_split<2, 2>(tiles, steps, a, jump, b, jump, to, add, nothing);
  } else if (high) {
    put_split<2, 1>(tiles, steps, a, jump, b, jump, to, add, nothing);
  } else if (wide) {
    put_split<1, 2>(tiles, steps, a, jump, b, jump, to, add, nothing);
  } else {
    put_split<1, 1>(tiles, steps, a, jump, b, jump, to, add, nothing);
  }
  if (!exists) copy_edge<Layout>(p, row, column, edge, true);
}

// C ← op(A) op(B): Layout splits tiles of the factors, and says where C lies.
template <class Layout, class P>
void multiply(const P& p, ColumnsThere done) {
  auto* const split_b = reinterpret_cast<std::uint32_t*>(p.packed);
  std::uint32_t* const split_a = split_b + 2 * kSplitSteps * kSplitStep;
  const std::size_t most_rows = divide_up(divide_up(p.m, divide_up(p.m, kSplitRows)), kSplitBlock) * kSplitBlock;
  constexpr std::size_t kMostTerms = kSplitSteps * kUnitTerms;
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
        for (std::size_t column = 0; column < p.n; column += kSplitBlock) {
          for (std::size_t x = 0; x < kSplitBlock && column + x < p.n; x += kUnitRows) {
            split(split_b + x / kUnitRows * steps * kSplitStep, [&](std::size_t term, std::uint32_t* out) HWY_ATTR {
              Layout::right(p, first + term, column + x, terms - term, p.n - column - x, out);
            });
          }
          for (std::size_t row = 0; row < rows; row += kSplitBlock) {
            put_block<Layout>(tiles, p, top + row, column, steps, split_a + row / kUnitRows * steps * kSplitStep,
                              split_b, first > 0);
          }
          const std::size_t end = std::min(column + kSplitBlock, p.n);
          if (is_last && (end - there == kColumnsTogether || end == p.n)) {
            done(there, end - there);
            there = end;
          }
        }
      }
    }
  });
}

// A and C in panels, whose last one has room for whole tiles.
struct OuterLayout {
  using P = PanelProduct<float>;
  static void left(const P& p, std::size_t row, std::size_t term, std::size_t rows, std::size_t terms,
                   std::uint32_t* out) {
    constexpr std::size_t kWidth = PanelRows<float>::kWidth;
    const std::size_t second = terms > kUnitWords ? term + kUnitWords : term;
    split_left({p.a.at(row, term), kWidth}, {p.a.at(row, second), kWidth}, rows, terms, out);
  }
  static std::size_t columns(const P& p) { return divide_up(p.n, PanelRows<float>::kWidth) * PanelRows<float>::kWidth; }
  static std::size_t stride(const P& /*p*/) { return PanelRows<float>::kWidth; }
  static float* c(const P& p, std::size_t row, std::size_t column) { return p.c.at(row, column); }
};

struct AB : OuterLayout {
  static void right(const P& p, std::size_t term, std::size_t column, std::size_t terms, std::size_t columns,
                    std::uint32_t* out) {
    split_right({p.b.at(term, column), p.b.stride}, terms, columns, out);
  }
};

struct ABt : OuterLayout {
  static void right(const P& p, std::size_t term, std::size_t column, std::size_t terms, std::size_t columns,
                    std::uint32_t* out) {
    split_right_transposed({p.b.at(column, term), p.b.stride}, terms, columns, out);
  }
};

// A and B in panels.
struct AtB {
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
  static std::size_t columns(const P& p) { return p.n; }
  static std::size_t stride(const P& p) { return p.c.stride; }
  static float* c(const P& p, std::size_t row, std::size_t column) { return p.c.at(row, column); }
};

// Highway dispatches functions, not templates.
void a_b(const PanelProduct<float>& product, ColumnsThere done) { multiply<AB>(product, done); }
void a_bt(const PanelProduct<float>& product, ColumnsThere done) { multiply<ABt>(product, done); }
void at_b(const InnerPanelProduct<float>& product) {
  multiply<AtB>(product, [](std::size_t, std::size_t) {});
}

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

std::size_t detail::split_room() { return (kSplitRows / kUnitRows + 2) * kSplitSteps * 3 * kUnitTile; }

HWY_EXPORT(a_b);
HWY_EXPORT(a_bt);
HWY_EXPORT(at_b);
void detail::split_a_b(const PanelProduct<float>& product, ColumnsThere done) {
  HWY_DYNAMIC_DISPATCH(a_b)(product, done);
}
void detail::split_a_bt(const PanelProduct<float>& product, ColumnsThere done) {
  HWY_DYNAMIC_DISPATCH(a_bt)(product, done);
}
void detail::split_at_b(const InnerPanelProduct<float>& product) { HWY_DYNAMIC_DISPATCH(at_b)(product); }

}  // namespace tocca
#endif
