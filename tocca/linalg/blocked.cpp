// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/blocked.h"

#include <algorithm>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/blocked.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/tile_inl.h"
#include "tocca/linalg/transposed_tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

using detail::InnerPanelProduct;
using detail::PanelProduct;
using detail::PanelRows;
using detail::Product;

// Where they were measured to be faster: with AVX-512 always, with AVX2 for short sums.
bool is_faster(std::size_t k) { return HWY_MAX_BYTES >= 64 || (HWY_MAX_BYTES == 32 && k <= 256); }

// Two panels of B are packed at a time, and stay in a cache while all rows of A pass over them. Row by row with sums of
// up to so many terms, which are 192 kilobytes on the stack with AVX-512, half of that before.
constexpr std::size_t kPanels = 2, kDepth = 512;
// Of Aᵀ B so many rows of both factors are summed in one go: a panel of each stays in the first-level cache.
constexpr std::size_t kInnerDepth = 128;

// The left factor of a tile where it lies in panels: some rows from the beginning of a panel on. Two words, so that it
// is passed in registers: through memory it would wait for the stores of the tile before.
template <class S>
class ByPanels {
 public:
  ByPanels(const PanelRows<const S>& a, std::size_t row, std::size_t column)
      : data_(a.at(row, column)), over_(a.jump - kWidth) {}
  HWY_INLINE ByPanels from(std::size_t r) const {
    ByPanels behind = *this;
    behind.data_ += r * kWidth;
    return behind;
  }

  template <std::size_t>
  class Column {
   public:
    HWY_INLINE explicit Column(const ByPanels& a) : data_(a.data_), over_(a.over_) {}
    HWY_INLINE S operator[](std::size_t r) const { return data_[r * kWidth]; }
    HWY_INLINE void next() {
      ++data_;
      if (--left_ > 0) return;
      left_ = kWidth;
      data_ += over_;
    }

   private:
    const S* data_;
    std::size_t over_, left_ = kWidth;
  };

 private:
  static constexpr std::size_t kWidth = PanelRows<S>::kWidth;
  const S* data_;
  std::size_t over_;
};

// The columns of a matrix that lies in panels of memory one after another: panels of the kernels, as many vectors at a
// time as a tile takes, that do not go beyond those of memory.
template <class S>
class PanelsWithin {
 public:
  PanelsWithin(std::size_t n, std::size_t lanes) : n_(n), lanes_(lanes), part_(0, lanes) {}

  bool next(Panel& panel) {
    if (!part_.next(panel)) {
      first_ = end_;
      if (first_ >= n_) return false;
      end_ = first_ + std::min(PanelRows<S>::kWidth, n_ - first_);
      part_ = Panels(end_ - first_, lanes_);
      part_.next(panel);
    }
    panel.first += first_;
    return true;
  }

 private:
  std::size_t n_, lanes_, first_ = 0, end_ = 0;
  Panels part_;
};

// What multiply_blocks() asks of where A and C lie: how many terms of k are summed at a time, in blocks of about equal
// depth; the left factor of tiles from `row` and `first` on, what fetches `rows` rows of `count` columns, the columns
// of C, and where those of q go.
template <class S>
struct RowLayout {
  using Columns = Panels;
  static std::size_t depth(std::size_t k) { return divide_up(k, divide_up(k, kDepth)); }
  static ByRows<S> left(const Product<S>& p, std::size_t row, std::size_t first) {
    return {p.a.at(row, first), p.a.stride};
  }
  static FetchBlock fetch(const Product<S>& p, std::size_t row, std::size_t rows, std::size_t first,
                          std::size_t count) {
    return {p.a.at(row, first), p.a.stride * sizeof(S), count * sizeof(S), rows};
  }
  static TileTarget<S> target(const Product<S>& p, std::size_t row, const Panel& q, bool behind) {
    return {{p.c.at(row, q.first), p.c.stride}, q.width, p.alpha, p.add || behind};
  }
};

template <class S>
struct PanelLayout {
  using Columns = PanelsWithin<S>;
  static constexpr std::size_t kWidth = PanelRows<S>::kWidth;
  // Short sums: a packed panel of B stays in the first-level cache.
  static std::size_t depth(std::size_t k) {
    constexpr std::size_t kMost = detail::kPackedDepth / kWidth;
    static_assert(detail::kPackedDepth % kWidth == 0);
    const std::size_t panels = divide_up(k, kWidth);
    return divide_up(panels, divide_up(panels, kMost)) * kWidth;
  }
  static ByPanels<S> left(const PanelProduct<S>& p, std::size_t row, std::size_t first) { return {p.a, row, first}; }
  static FetchBlock fetch(const PanelProduct<S>& p, std::size_t row, std::size_t rows, std::size_t first,
                          std::size_t count) {
    return {p.a.at(row, first), p.a.jump * sizeof(S), rows * kWidth * sizeof(S), divide_up(count, kWidth)};
  }
  // There is room for whole vectors.
  static TileTarget<S> target(const PanelProduct<S>& p, std::size_t row, const Panel& q, bool behind) {
    return {{p.c.at(row, q.first), kWidth}, q.full, S(1), behind};
  }
};

// C ← A op(B). `pack` lays down `count` numbers from `first` on of a panel of op(B).
template <class Layout, class D, class P, class Pack, class S = hn::TFromD<D>>
void multiply_blocks(D d, const P& p, const Pack& pack, S* packed) {
  // So many rows pass over all packed panels before the next ones do, and are read from memory once.
  constexpr std::size_t kRows = 48;
  const std::size_t depth = Layout::depth(p.k);
  typename Layout::Columns panels(p.n, hn::Lanes(d));
  Panel group[kPanels];
  for (std::size_t size = 0;; size = 0) {
    while (size < kPanels && panels.next(group[size])) ++size;
    if (size == 0) return;
    for (std::size_t first = 0; first < p.k; first += depth) {
      const std::size_t count = std::min(depth, p.k - first);
      S* out = packed;
      for (std::size_t i = 0; i < size; out += group[i++].full * count) pack(group[i], first, count, out);
      for (std::size_t row = 0; row < p.m; row += kRows) {
        const std::size_t rows = std::min(kRows, p.m - row), next = row + rows;
        const auto block = Layout::left(p, row, first);
        FetchBlock fetch = Layout::fetch(p, next, std::min(kRows, p.m - next), first, count);
        const S* panel = packed;
        for (std::size_t i = 0; i < size; ++i) {
          const Panel& q = group[i];
          put_panel(d, q.vectors, rows, count, block, panel, q.full, Layout::target(p, row, q, first > 0), fetch);
          panel += q.full * count;
        }
      }
    }
  }
}

template <class Layout, class S, class P>
void a_b(const P& p, S* packed) {
  const hn::ScalableTag<S> d;
  const auto pack = [&](const Panel& q, std::size_t first, std::size_t count, S* out) {
    pack_columns(d, Rows<const S>{p.b.at(first, q.first), p.b.stride}, count, q.width, q.full, out);
  };
  multiply_blocks<Layout>(d, p, pack, packed);
}

template <class Layout, class S, class P>
void a_bt(const P& p, S* packed) {
  const hn::ScalableTag<S> d;
  const auto pack = [&](const Panel& q, std::size_t first, std::size_t count, S* out) {
    pack_rows(d, Rows<const S>{p.b.at(q.first, first), p.b.stride}, count, q.width, q.full, out);
  };
  multiply_blocks<Layout>(d, p, pack, packed);
}

// Fetches two pieces of memory, one after the other (see FetchBlock).
class FetchTwo {
 public:
  FetchTwo(const void* first, std::size_t lines, const void* second, std::size_t lines_of_second)
      : line_(static_cast<const char*>(first)),
        left_(lines),
        second_(static_cast<const char*>(second)),
        lines_of_second_(lines_of_second) {}

  HWY_INLINE void next() {
    if (left_ == 0) {
      if (lines_of_second_ == 0) return;
      line_ = second_;
      left_ = lines_of_second_;
      lines_of_second_ = 0;
    }
    --left_;
    __builtin_prefetch(line_, 0, 2);
    line_ += kCacheLine;
  }

 private:
  const char* line_;
  std::size_t left_;
  const char* second_;
  std::size_t lines_of_second_;
};

// C ← Aᵀ B. What would have to be packed lies together in panels: of A one after the other, each in blocks of rows,
// which every panel of B passes over. Meanwhile the next panel of B is fetched, and a share of the next block of A.
template <class S>
void at_b(const InnerPanelProduct<S>& p) {
  constexpr std::size_t kWidth = PanelRows<S>::kWidth, kLinesOfRow = kWidth * sizeof(S) / kCacheLine;
  const hn::ScalableTag<S> d;
  const std::size_t depth = divide_up(p.k, divide_up(p.k, kInnerDepth));
  const std::size_t panels_of_b = divide_up(p.n, kWidth);
  for (std::size_t row = 0; row < p.m; row += kWidth) {  // of C: a panel of A
    for (std::size_t first = 0; first < p.k; first += depth) {
      const std::size_t count = std::min(depth, p.k - first);
      const ByColumns<S> a{p.a.at(first, row), kWidth};
      const bool is_last = first + count == p.k, has_next = !is_last || row + kWidth < p.m;
      const std::size_t next = is_last ? 0 : first + count, next_count = std::min(depth, p.k - next);
      const S* const next_a = has_next ? p.a.at(next, row) + (is_last ? p.a.jump : 0) : p.a.data;
      PanelsWithin<S> panels(p.n, hn::Lanes(d));
      for (Panel q; panels.next(q);) {
        const std::size_t panel = q.first / kWidth;
        const bool is_last_b = panel + 1 == panels_of_b;
        const S* const next_b = is_last_b ? p.b.at(next) : p.b.at(first, q.first - q.first % kWidth) + p.b.jump;
        std::size_t lines_of_b = is_last_b && !has_next ? 0 : (is_last_b ? next_count : count) * kLinesOfRow;
        const std::size_t lines_of_a = has_next ? next_count * kLinesOfRow : 0;
        std::size_t begin = lines_of_a * panel / panels_of_b, end = lines_of_a * (panel + 1) / panels_of_b;
        // With short vectors a panel of B is used in parts: at the first one.
        if (q.first % kWidth != 0) lines_of_b = begin = end = 0;
        FetchTwo fetch(next_b, lines_of_b, next_a + begin * kCacheLine / sizeof(S), end - begin);
        put_panel(d, q.vectors, std::min(kWidth, p.m - row), count, a, p.b.at(first, q.first), kWidth,
                  TileTarget<S>{{p.c.at(row, q.first), p.c.stride}, q.width, S(1), first > 0}, fetch);
      }
    }
  }
}

// Highway dispatches functions, not templates.
#define TOCCA_PRODUCT(name, S)                                                                                \
  void blocked_##name##_##S(const Product<S>& product) {                                                      \
    HWY_ALIGN S packed[kPanels * 3 * HWY_MAX_BYTES / sizeof(S) * kDepth];                                     \
    name<RowLayout<S>, S>(product, packed);                                                                   \
  }                                                                                                           \
  static_assert(kPanels * 3 * HWY_MAX_BYTES / sizeof(S) * detail::kPackedDepth <= detail::kPackedNumbers<S>); \
  void panels_##name##_##S(const PanelProduct<S>& product) { name<PanelLayout<S>, S>(product, product.packed); }
TOCCA_PRODUCT(a_b, float)
TOCCA_PRODUCT(a_b, double)
TOCCA_PRODUCT(a_bt, float)
TOCCA_PRODUCT(a_bt, double)
#undef TOCCA_PRODUCT
void panels_at_b_float(const InnerPanelProduct<float>& product) { at_b(product); }
void panels_at_b_double(const InnerPanelProduct<double>& product) { at_b(product); }

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {

HWY_EXPORT(is_faster);
bool detail::blocked_is_faster(std::size_t k) { return HWY_DYNAMIC_DISPATCH(is_faster)(k); }

#define TOCCA_PRODUCT(name, S, Product) \
  HWY_EXPORT(name##_##S);               \
  void detail::name(const Product<S>& product) { HWY_DYNAMIC_DISPATCH(name##_##S)(product); }
TOCCA_PRODUCT(blocked_a_b, float, Product)
TOCCA_PRODUCT(blocked_a_b, double, Product)
TOCCA_PRODUCT(blocked_a_bt, float, Product)
TOCCA_PRODUCT(blocked_a_bt, double, Product)
TOCCA_PRODUCT(panels_a_b, float, PanelProduct)
TOCCA_PRODUCT(panels_a_b, double, PanelProduct)
TOCCA_PRODUCT(panels_a_bt, float, PanelProduct)
TOCCA_PRODUCT(panels_a_bt, double, PanelProduct)
TOCCA_PRODUCT(panels_at_b, float, InnerPanelProduct)
TOCCA_PRODUCT(panels_at_b, double, InnerPanelProduct)
#undef TOCCA_PRODUCT

}  // namespace tocca
#endif
