// Compiled by Highway for each instruction set and chosen at run time.
#include "tocca/linalg/skinny.h"

#include <algorithm>

#include "tocca/core/fixed_length_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/linalg/skinny.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tocca::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A tile of C is kRows × kVectors vectors: with those of B and one of A they fill the sixteen registers of AVX2.
constexpr int kRows = 4;
constexpr int kVectors = 3;

// Reads ahead of a computation: every tile asks for its share of the block that comes next, in the order of memory.
// Memory then delivers at its full rate, which it does not in the order that tiles want.
template <class S>
class ReadAhead {
 public:
  ReadAhead() = default;
  // From `begin` to `end`, in so many calls of next().
  ReadAhead(const S* begin, const S* end, std::size_t calls)
      : next_(begin), end_(end), share_(static_cast<std::size_t>(end - begin) / (kLine * calls) + 1) {}

  HWY_INLINE void next() {
    for (std::size_t i = 0; i < share_ && next_ < end_; ++i, next_ += kLine) __builtin_prefetch(next_, 0, 2);
  }

 private:
  static constexpr std::size_t kLine = 64 / sizeof(S);
  const S* next_ = nullptr;
  const S* end_ = nullptr;
  std::size_t share_ = 0;
};

// ---- C ← A B -------------------------------------------------------------------------------------------------------

// So many bytes of B stay in the second-level cache while every row of A passes over them, and as many come in.
constexpr std::size_t kBlockBytes = 128 * 1024;

// C (kHeight × kVectors vectors) += A (kHeight × depth) · B (depth × kVectors vectors).
template <int kHeight, class D, class S = hn::TFromD<D>>
HWY_INLINE void multiply_tile(D d, std::size_t depth, Rows<const S> a, Rows<const S> b, Rows<S> c,
                              ReadAhead<S>& ahead) {
  const std::size_t lanes = hn::Lanes(d);
  ahead.next();
  hn::Vec<D> sum[kHeight][kVectors];
  for (int r = 0; r < kHeight; ++r) {
    for (int q = 0; q < kVectors; ++q) sum[r][q] = hn::LoadU(d, c.at(r, q * lanes));
  }
  for (std::size_t k = 0; k < depth; ++k) {
    hn::Vec<D> y[kVectors];
    for (int q = 0; q < kVectors; ++q) y[q] = hn::LoadU(d, b.at(k, q * lanes));
    for (int r = 0; r < kHeight; ++r) {
      const auto x = hn::Set(d, *a.at(r, k));
      for (int q = 0; q < kVectors; ++q) sum[r][q] = hn::MulAdd(x, y[q], sum[r][q]);
    }
  }
  for (int r = 0; r < kHeight; ++r) {
    for (int q = 0; q < kVectors; ++q) hn::StoreU(sum[r][q], d, c.at(r, q * lanes));
  }
}

// All rows of A with kVectors vectors of columns of B.
template <class D, class S = hn::TFromD<D>>
void multiply_columns(D d, std::size_t m, std::size_t depth, Rows<const S> a, Rows<const S> b, Rows<S> c,
                      ReadAhead<S>& ahead) {
  std::size_t i = 0;
  for (; i + kRows <= m; i += kRows) {
    multiply_tile<kRows>(d, depth, Rows<const S>{a.at(i), a.stride}, b, Rows<S>{c.at(i), c.stride}, ahead);
  }
  for (; i < m; ++i) {
    multiply_tile<1>(d, depth, Rows<const S>{a.at(i), a.stride}, b, Rows<S>{c.at(i), c.stride}, ahead);
  }
}

// Where columns that do not fill a tile are computed, with zeros beside them.
template <class S>
struct Scratch {
  static constexpr std::size_t kWidth = kVectors * HWY_MAX_BYTES / sizeof(S);
  static constexpr std::size_t kDepth = 64;
  static constexpr std::size_t kHeight = 48;
  alignas(64) S b[kDepth * kWidth];
  alignas(64) S c[kHeight * kWidth];
};

// The last `width` columns, fewer than a tile has, of at most Scratch::kHeight rows.
template <class D, class S = hn::TFromD<D>>
void multiply_last_columns(D d, std::size_t m, std::size_t depth, std::size_t width, Rows<const S> a, Rows<const S> b,
                           Rows<S> c, Scratch<S>& scratch) {
  const std::size_t full = kVectors * hn::Lanes(d);
  ReadAhead<S> nothing;
  for (std::size_t i = 0; i < m; ++i) {
    std::fill_n(std::copy_n(c.at(i), width, scratch.c + i * full), full - width, S(0));
  }
  for (std::size_t first = 0; first < depth; first += Scratch<S>::kDepth) {
    const std::size_t count = std::min(Scratch<S>::kDepth, depth - first);
    for (std::size_t r = 0; r < count; ++r) {
      std::fill_n(std::copy_n(b.at(first + r), width, scratch.b + r * full), full - width, S(0));
    }
    multiply_columns(d, m, count, Rows<const S>{a.at(0, first), a.stride}, Rows<const S>{scratch.b, full},
                     Rows<S>{scratch.c, full}, nothing);
  }
  for (std::size_t i = 0; i < m; ++i) std::copy_n(scratch.c + i * full, width, c.at(i));
}

template <class S>
void multiply(std::size_t m, std::size_t k, std::size_t n, Rows<const S> a, Rows<const S> b, Rows<S> c, bool add) {
  const hn::ScalableTag<S> d;
  const std::size_t width = kVectors * hn::Lanes(d);
  if (m == 0 || n == 0) return;
  if (!add) {
    for (std::size_t i = 0; i < m; ++i) std::fill_n(c.at(i), n, S(0));
  }
  if (k == 0) return;
  const std::size_t depth = std::clamp<std::size_t>(kBlockBytes / (b.stride * sizeof(S)), 16, 256);
  const std::size_t tiles = (m + kRows - 1) / kRows * ((n + width - 1) / width);
  ReadAhead<S>(b.at(0), b.at(std::min(depth, k) - 1, n), 1).next();
  for (std::size_t first = 0; first < k; first += depth) {
    const std::size_t rows = std::min(depth, k - first);
    const std::size_t next = std::min(k, first + 2 * depth);
    ReadAhead<S> ahead;
    if (first + depth < k) ahead = ReadAhead<S>(b.at(first + depth), b.at(next - 1, n), tiles);
    const Rows<const S> some{a.at(0, first), a.stride};
    std::size_t j = 0;
    for (; j + width <= n; j += width) {
      multiply_columns(d, m, rows, some, Rows<const S>{b.at(first, j), b.stride}, Rows<S>{c.at(0, j), c.stride}, ahead);
    }
    if (j == n) continue;
    Scratch<S> scratch;
    for (std::size_t i = 0; i < m; i += Scratch<S>::kHeight) {
      multiply_last_columns(d, std::min(m - i, Scratch<S>::kHeight), rows, n - j, Rows<const S>{some.at(i), a.stride},
                            Rows<const S>{b.at(first, j), b.stride}, Rows<S>{c.at(i, j), c.stride}, scratch);
    }
  }
}

// ---- C ← A Bᵀ ------------------------------------------------------------------------------------------------------

// Inner products of kHeight rows of A with kWidth rows of B.
template <int kHeight, int kWidth, class D, class S = hn::TFromD<D>>
HWY_INLINE void inner_products(D d, std::size_t k, Rows<const S> a, Rows<const S> b, Rows<S> c, ReadAhead<S>& ahead) {
  const std::size_t lanes = hn::Lanes(d);
  ahead.next();
  hn::Vec<D> sum[kHeight][kWidth];
  for (int r = 0; r < kHeight; ++r) {
    for (int q = 0; q < kWidth; ++q) sum[r][q] = hn::Zero(d);
  }
  std::size_t j = 0;
  for (; j + lanes <= k; j += lanes) {
    hn::Vec<D> y[kWidth];
    for (int q = 0; q < kWidth; ++q) y[q] = hn::LoadU(d, b.at(q, j));
    for (int r = 0; r < kHeight; ++r) {
      const auto x = hn::LoadU(d, a.at(r, j));
      for (int q = 0; q < kWidth; ++q) sum[r][q] = hn::MulAdd(x, y[q], sum[r][q]);
    }
  }
  // Nothing but this touches the sums after the loop: compilers then keep them in registers.
  for (int r = 0; r < kHeight; ++r) {
    for (int q = 0; q < kWidth; ++q) *c.at(r, q) += hn::GetLane(hn::SumOfLanes(d, sum[r][q]));
  }
  for (; j < k; ++j) {
    for (int r = 0; r < kHeight; ++r) {
      for (int q = 0; q < kWidth; ++q) *c.at(r, q) += *a.at(r, j) * *b.at(q, j);
    }
  }
}

template <int kHeight, class D, class S = hn::TFromD<D>>
void inner_products_of_rows(D d, std::size_t k, std::size_t n, Rows<const S> a, Rows<const S> b, Rows<S> c,
                            ReadAhead<S>& ahead) {
  constexpr int kWidth = 3;
  std::size_t j = 0;
  for (; j + kWidth <= n; j += kWidth) {
    inner_products<kHeight, kWidth>(d, k, a, Rows<const S>{b.at(j), b.stride}, Rows<S>{c.at(0, j), c.stride}, ahead);
  }
  for (; j < n; ++j) {
    inner_products<kHeight, 1>(d, k, a, Rows<const S>{b.at(j), b.stride}, Rows<S>{c.at(0, j), c.stride}, ahead);
  }
}

template <class S>
void multiply_a_bt(std::size_t m, std::size_t k, std::size_t n, Rows<const S> a, Rows<const S> b, Rows<S> c, bool add) {
  const hn::ScalableTag<S> d;
  if (m == 0 || n == 0) return;
  if (!add) {
    for (std::size_t i = 0; i < m; ++i) std::fill_n(c.at(i), n, S(0));
  }
  if (k == 0) return;
  const std::size_t rows = std::clamp<std::size_t>(kBlockBytes / (b.stride * sizeof(S)), 3, 258) / 3 * 3;
  const std::size_t tiles = (m + kRows - 1) / kRows * (rows / 3);
  ReadAhead<S>(b.at(0), b.at(std::min(rows, n) - 1, k), 1).next();
  for (std::size_t first = 0; first < n; first += rows) {
    const std::size_t count = std::min(rows, n - first);
    const std::size_t next = std::min(n, first + 2 * rows);
    ReadAhead<S> ahead;
    if (first + rows < n) ahead = ReadAhead<S>(b.at(first + rows), b.at(next - 1, k), tiles);
    const Rows<const S> some{b.at(first), b.stride};
    std::size_t i = 0;
    for (; i + kRows <= m; i += kRows) {
      inner_products_of_rows<kRows>(d, k, count, Rows<const S>{a.at(i), a.stride}, some,
                                    Rows<S>{c.at(i, first), c.stride}, ahead);
    }
    for (; i < m; ++i) {
      inner_products_of_rows<1>(d, k, count, Rows<const S>{a.at(i), a.stride}, some, Rows<S>{c.at(i, first), c.stride},
                                ahead);
    }
  }
}

// Highway dispatches functions, not templates.
void multiply_float(std::size_t m, std::size_t k, std::size_t n, Rows<const float> a, Rows<const float> b,
                    Rows<float> c, bool add) {
  multiply<float>(m, k, n, a, b, c, add);
}
void multiply_double(std::size_t m, std::size_t k, std::size_t n, Rows<const double> a, Rows<const double> b,
                     Rows<double> c, bool add) {
  multiply<double>(m, k, n, a, b, c, add);
}
void multiply_a_bt_float(std::size_t m, std::size_t k, std::size_t n, Rows<const float> a, Rows<const float> b,
                         Rows<float> c, bool add) {
  multiply_a_bt<float>(m, k, n, a, b, c, add);
}
void multiply_a_bt_double(std::size_t m, std::size_t k, std::size_t n, Rows<const double> a, Rows<const double> b,
                          Rows<double> c, bool add) {
  multiply_a_bt<double>(m, k, n, a, b, c, add);
}

}  // namespace tocca::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca::detail {

HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(multiply_a_bt_float);
HWY_EXPORT(multiply_a_bt_double);

void skinny_multiply(std::size_t m, std::size_t k, std::size_t n, Rows<const float> a, Rows<const float> b,
                     Rows<float> c, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply_float)(m, k, n, a, b, c, add);
}
void skinny_multiply(std::size_t m, std::size_t k, std::size_t n, Rows<const double> a, Rows<const double> b,
                     Rows<double> c, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply_double)(m, k, n, a, b, c, add);
}
void skinny_multiply_a_bt(std::size_t m, std::size_t k, std::size_t n, Rows<const float> a, Rows<const float> b,
                          Rows<float> c, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply_a_bt_float)(m, k, n, a, b, c, add);
}
void skinny_multiply_a_bt(std::size_t m, std::size_t k, std::size_t n, Rows<const double> a, Rows<const double> b,
                          Rows<double> c, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply_a_bt_double)(m, k, n, a, b, c, add);
}

}  // namespace tocca::detail
#endif
