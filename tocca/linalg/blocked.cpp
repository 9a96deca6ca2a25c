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

// Two panels of B with sums of up to so many terms are packed at a time: 192 kilobytes with AVX-512, half of that
// before. They lie on the stack and stay in the second-level cache while all rows of A pass over them.
constexpr std::size_t kDepth = 512, kPanels = 2;
// So many rows pass over all packed panels before the next ones do, and are read from memory once.
constexpr std::size_t kRows = 48;
// Of Aᵀ B so many rows of both factors are summed in one go: a panel of each stays in the second-level cache.
constexpr std::size_t kInnerDepth = 1024;

// The left factor of a tile where it lies in panels: some rows from some column on, over the ends of panels.
template <class S>
class ByPanels {
 public:
  ByPanels(const PanelRows<const S>& a, std::size_t row, std::size_t column)
      : data_(a.at(row, column)), left_(kWidth - column % kWidth), over_(a.jump - kWidth) {}
  HWY_INLINE ByPanels from(std::size_t r) const {
    ByPanels behind = *this;
    behind.data_ += r * kWidth;
    return behind;
  }

  template <std::size_t>
  class Column {
   public:
    HWY_INLINE explicit Column(const ByPanels& a) : data_(a.data_), left_(a.left_), over_(a.over_) {}
    HWY_INLINE S operator[](std::size_t r) const { return data_[r * kWidth]; }
    HWY_INLINE void next() {
      ++data_;
      if (--left_ > 0) return;
      left_ = kWidth;
      data_ += over_;
    }

   private:
    const S* data_;
    std::size_t left_, over_;
  };

 private:
  static constexpr std::size_t kWidth = PanelRows<S>::kWidth;
  const S* data_;
  std::size_t left_, over_;
};

// The columns of a matrix in panels one after another, as many at a time as a kernel takes and as lie together.
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

// What multiply_blocks() asks of where A and C lie: the left factor of tiles from `row` and `first` on, what fetches
// `rows` rows of `count` columns, the columns of C, and where those of q go.
template <class S>
struct RowLayout {
  using Columns = Panels;
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
  static ByPanels<S> left(const PanelProduct<S>& p, std::size_t row, std::size_t first) { return {p.a, row, first}; }
  static FetchBlock fetch(const PanelProduct<S>& p, std::size_t row, std::size_t rows, std::size_t first,
                          std::size_t count) {
    const std::size_t before = first % kWidth;
    return {p.a.at(row, first - before), p.a.jump * sizeof(S), rows * kWidth * sizeof(S),
            divide_up(before + count, kWidth)};
  }
  // There is room for whole vectors.
  static TileTarget<S> target(const PanelProduct<S>& p, std::size_t row, const Panel& q, bool behind) {
    return {{p.c.at(row, q.first), kWidth}, q.full, S(1), behind};
  }
};

// C ← A op(B). `pack` lays down `count` numbers from `first` on of a panel of op(B).
template <class Layout, class D, class P, class Pack, class S = hn::TFromD<D>>
void multiply_blocks(D d, const P& p, const Pack& pack) {
  constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(S);
  HWY_ALIGN S packed[kPanels * 3 * kLanes * kDepth];
  // Blocks of equal depth.
  const std::size_t depth = divide_up(p.k, divide_up(p.k, kDepth));
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
void a_b(const P& p) {
  const hn::ScalableTag<S> d;
  multiply_blocks<Layout>(d, p, [&](const Panel& q, std::size_t first, std::size_t count, S* out) {
    pack_columns(d, Rows<const S>{p.b.at(first, q.first), p.b.stride}, count, q.width, q.full, out);
  });
}

template <class Layout, class S, class P>
void a_bt(const P& p) {
  const hn::ScalableTag<S> d;
  multiply_blocks<Layout>(d, p, [&](const Panel& q, std::size_t first, std::size_t count, S* out) {
    pack_rows(d, Rows<const S>{p.b.at(q.first, first), p.b.stride}, count, q.width, q.full, out);
  });
}

// C ← Aᵀ B. What would have to be packed lies together in panels.
template <class S>
void at_b(const InnerPanelProduct<S>& p) {
  constexpr std::size_t kWidth = PanelRows<S>::kWidth;
  const hn::ScalableTag<S> d;
  const std::size_t depth = divide_up(p.k, divide_up(p.k, kInnerDepth));
  for (std::size_t row = 0; row < p.m; row += kWidth) {  // of C: a panel of A
    for (std::size_t first = 0; first < p.k; first += depth) {
      const std::size_t count = std::min(depth, p.k - first);
      const ByColumns<S> a{p.a.at(first, row), kWidth};
      PanelsWithin<S> panels(p.n, hn::Lanes(d));
      for (Panel q; panels.next(q);) {
        // The next panel of B, while the first columns of this one are used.
        const bool fetches = q.first % kWidth == 0 && q.first + kWidth < p.n;
        FetchBlock fetch(p.b.at(first, q.first) + p.b.jump, 0, fetches ? count * kWidth * sizeof(S) : 0, 1);
        put_panel(d, q.vectors, std::min(kWidth, p.m - row), count, a, p.b.at(first, q.first), kWidth,
                  TileTarget<S>{{p.c.at(row, q.first), p.c.stride}, q.width, S(1), first > 0}, fetch);
      }
    }
  }
}

// Highway dispatches functions, not templates.
#define TOCCA_PRODUCT(name, S)                                                             \
  void blocked_##name##_##S(const Product<S>& product) { name<RowLayout<S>, S>(product); } \
  void panels_##name##_##S(const PanelProduct<S>& product) { name<PanelLayout<S>, S>(product); }
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
