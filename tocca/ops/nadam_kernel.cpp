// The update of the parameters, compiled by Highway for each instruction set and chosen at run time, so that a binary
// for any x86-64 uses AVX2 or AVX-512. At small batches the update costs as much memory traffic as the matrix products.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tocca/core/fixed_length_vectors.h"
#include "tocca/ops/nadam.h"
#include "tocca/ops/nadam_split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tocca/ops/nadam_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tocca/linalg/tile_inl.h"
#include "tocca/linalg/transposed_tile_inl.h"
#include "tocca/ops/nadam_inl.h"

#ifndef TOCCA_OPS_NADAM_KERNEL_ONCE
#define TOCCA_OPS_NADAM_KERNEL_ONCE
namespace tocca {

// What all rows of weights need of dy, and for each thread room for a group of rows: its part of x, and its gradients.
template <class S>
struct OuterScratch {
  const S* dy;
  const S* dy_transposed;
  S* groups;
};

}  // namespace tocca
#endif

HWY_BEFORE_NAMESPACE();
namespace tocca::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class S>
void update(const NadamStep& step, const NadamArrays<S>& a, const S* gradients, std::size_t n) {
  NoFetch nothing;
  const std::size_t done = update_vectors(hn::ScalableTag<S>(), step, a, gradients, 0, n, nothing);
  update_vectors(hn::CappedTag<S, 1>(), step, a, gradients, done, n, nothing);
}

// dy in panels of columns, each sample's piece right behind that of the one before: tiles then read it in a straight
// line.
template <class D, class S = hn::TFromD<D>>
S* pack_panels(D d, const OuterProduct<S>& g, Workspace& work) {
  const std::size_t lanes = hn::Lanes(d);
  S* const packed = work.array<S>(divide_up(g.columns, lanes) * lanes * g.samples).data();
  S* out = packed;
  Panels panels(g.columns, lanes);
  for (Panel p; panels.next(p);) {
    pack_columns(d, Rows<const S>{g.dy.at(0, p.first), g.dy.stride}, g.samples, p.width, p.full, out);
    out += p.full * g.samples;
  }
  return packed;
}

// dyᵀ in panels of samples.
template <class D, class S = hn::TFromD<D>>
S* pack_transposed(D d, const OuterProduct<S>& g, Workspace& work) {
  const std::size_t lanes = hn::Lanes(d);
  S* const packed = work.array<S>(divide_up(g.samples, lanes) * lanes * g.columns).data();
  S* out = packed;
  Panels panels(g.samples, lanes);
  for (Panel p; panels.next(p);) {
    pack_rows(d, Rows<const S>{g.dy.at(p.first), g.dy.stride}, g.columns, p.width, p.full, out);
    out += p.full * g.columns;
  }
  return packed;
}

// The weights are worked on so many rows at a time, which stay in cache until they are used up: whole tiles of every
// width.
constexpr std::size_t kGroup = kTile;
static_assert(static_cast<std::size_t>(kWeightRows) % kGroup == 0);
static_assert(HWY_MAX_BYTES <= kCacheLine, "where vectors are stored whole, memory begins at a line");

// The longest sums that are made in one go, as in linalg/skinny.cpp: longer ones would lose digits in float.
constexpr std::size_t kDepth = 512;

// Columns `row` to `row` + count of dx.
template <class D, class F, class S = hn::TFromD<D>>
void input_gradient(D d, const OuterProduct<S>& g, std::size_t row, std::size_t count, const S* weights,
                    const S* dy_transposed, F& fetch) {
  const ByRows<S> w{weights + row * g.columns, g.columns};
  Panels panels(g.samples, hn::Lanes(d));
  for (Panel p; panels.next(p);) {
    for (std::size_t first = 0; first < g.columns; first += kDepth) {
      const std::size_t depth = std::min(kDepth, g.columns - first);
      put_panel(d, p.vectors, count, depth, w.from(0, first), dy_transposed, p.full,
                TransposedTarget<S>{{g.dx.at(p.first, row), g.dx.stride}, p.width, 1, first > 0}, fetch);
      dy_transposed += p.full * depth;
    }
  }
}

// The columns of x that a group of rows of weights belongs to. One below the other in x they may all fall into the same
// few sets of the first-level cache.
template <class S>
ByColumns<S> pack_group(const OuterProduct<S>& g, std::size_t row, std::size_t count, S* packed) {
  // Vectors that divide it: it is three times a power of two.
  static_assert(kGroup % 3 == 0 && std::has_single_bit(kGroup / 3));
  const hn::CappedTag<S, kGroup / 3> d;
  pack_columns(d, Rows<const S>{g.x.at(0, row), g.x.stride}, g.samples, count, kGroup, packed);
  return {packed, kGroup};
}

// The gradient of so many rows of weights, with room for a vector behind. A last panel that does not fill its
// vectors comes first: what it writes beyond a row lies where the next row begins, and is written again.
template <class D, class F, class S = hn::TFromD<D>>
void weight_gradient(D d, const OuterProduct<S>& g, const ByColumns<S>& x, std::size_t count, const S* dy, S* gradient,
                     F& fetch) {
  for (const bool filled : {false, true}) {
    const S* panel = dy;
    Panels panels(g.columns, hn::Lanes(d));
    for (Panel p; panels.next(p); panel += p.full * g.samples) {
      if ((p.width == p.full) != filled) continue;
      put_panel(d, p.vectors, count, g.samples, x, panel, p.full,
                TileTarget<S>{{gradient + p.first, g.columns}, p.full, 1, false}, fetch);
    }
  }
}

// Whole lines: of x, and of gradients with a line each for where the parameters lie, what waits, and what is written
// behind the last row.
template <class S>
std::size_t group_size(const OuterProduct<S>& g) {
  return (divide_up(kGroup * g.samples, kLine<S>) + divide_up(kGroup * g.columns, kLine<S>) + 3) * kLine<S>;
}

template <class S>
OuterScratch<S> prepare(const OuterProduct<S>& g, Workspace& work, std::size_t threads) {
  const hn::ScalableTag<S> d;
  return {pack_panels(d, g, work), g.dx.data ? pack_transposed(d, g, work) : nullptr,
          work.array<S>(threads * group_size(g)).data()};
}

// `first` to before `last`, in a thread with that number.
template <class S>
void update_rows(const NadamStep& step, const OuterProduct<S>& g, const NadamArrays<S>& a,
                 const OuterScratch<S>& scratch, std::size_t first, std::size_t last, std::size_t thread) {
  const hn::ScalableTag<S> d;
  const hn::CappedTag<S, 1> one;
  const std::size_t lanes = hn::Lanes(d), size = g.rows * g.columns;
  // Gradients lie like their parameters in relation to the boundaries of cache lines, so that no vector of them crosses
  // one. (The moments lie like the parameters as well, since their buffers have the same layout.) What does not fill a
  // vector at the end of a group of rows waits for the next group: it lies in front of that one's.
  S* const packed = scratch.groups + thread * group_size(g);
  S* const line = packed + divide_up(kGroup * g.samples, kLine<S>) * kLine<S>;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(a.parameters) / sizeof(S) % kLine<S>;
  std::size_t begin = first * g.columns;  // where the gradients that wait begin
  for (std::size_t row = first; row < last; row += kGroup) {
    const std::size_t count = std::min(kGroup, last - row), end = (row + count) * g.columns;
    S* const gradient = line + (offset + begin) % kLine<S>;  // of parameter number `begin`
    Fetch<3> fetch({a.parameters, a.first, a.second}, end * sizeof(S),
                   std::min(end + kGroup * g.columns, size) * sizeof(S));
    if (g.dx.data) input_gradient(d, g, row, count, a.parameters, scratch.dy_transposed, fetch);
    weight_gradient(d, g, pack_group(g, row, count, packed), count, scratch.dy, gradient + (row * g.columns - begin),
                    fetch);
    const NadamArrays<S> waiting{a.parameters + begin, a.first + begin, a.second + begin};
    std::size_t done = 0;
    if (const std::size_t past = (offset + begin) % lanes; past != 0) {
      done = update_vectors(one, step, waiting, gradient, 0, std::min(end - begin, lanes - past), fetch);
    }
    done = update_vectors(d, step, waiting, gradient, done, end - begin, fetch);
    if (row + count == last) done = update_vectors(one, step, waiting, gradient, done, end - begin, fetch);
    const std::size_t left = end - begin - done;
    begin += done;
    std::memmove(line + (offset + begin) % kLine<S>, gradient + done, left * sizeof(S));
  }
}

// Highway dispatches functions, not templates.
#define TOCCA_NADAM(S)                                                                                            \
  void update_##S(const NadamStep& step, const NadamArrays<S>& a, const S* gradients, std::size_t n) {            \
    update(step, a, gradients, n);                                                                                \
  }                                                                                                               \
  OuterScratch<S> prepare_##S(const OuterProduct<S>& g, Workspace& work, std::size_t threads) {                   \
    return prepare(g, work, threads);                                                                             \
  }                                                                                                               \
  void update_rows_##S(const NadamStep& step, const OuterProduct<S>& g, const NadamArrays<S>& a,                  \
                       const OuterScratch<S>& scratch, std::size_t first, std::size_t last, std::size_t thread) { \
    update_rows(step, g, a, scratch, first, last, thread);                                                        \
  }
TOCCA_NADAM(float)
TOCCA_NADAM(double)
#undef TOCCA_NADAM

}  // namespace tocca::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tocca {
namespace {

// Without samples or weights there is nothing to compute; returns whether that was so.
template <class S>
bool update_without_sums(const NadamStep& step, const NadamArrays<S>& arrays, const OuterProduct<S>& g,
                         Workspace& work) {
  const std::size_t size = g.rows * g.columns;
  if (size == 0) {
    for (std::size_t i = 0; g.dx.data && i < g.samples; ++i) std::fill_n(g.dx.at(i), g.rows, S(0));
    return true;
  }
  if (g.samples > 0) return false;
  const std::span<S> zeros = work.array<S>(size);
  std::fill(zeros.begin(), zeros.end(), S(0));
  nadam_update(step, arrays, std::span<const S>(zeros));
  return true;
}

// By the matrix unit, where that is faster; returns whether it was.
bool update_by_unit(const NadamStep& step, const NadamArrays<float>& arrays, const OuterProduct<float>& g,
                    Workspace& work, const Pieces& pieces) {
  if (!detail::split_update_is_faster(g)) return false;
  const detail::SplitOuter split = detail::split_prepare(g, work, static_cast<std::size_t>(pieces.threads()));
  pieces.share(static_cast<Index>(g.rows), static_cast<Index>(detail::kSplitWeightRows),
               static_cast<Index>(g.samples * g.columns), [&](Index first, Index count) {
                 detail::split_update_rows(step, g, arrays, split, static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(first + count),
                                           static_cast<std::size_t>(pieces.thread()));
               });
  return true;
}
bool update_by_unit(const NadamStep& /*step*/, const NadamArrays<double>& /*arrays*/, const OuterProduct<double>& /*g*/,
                    Workspace& /*work*/, const Pieces& /*pieces*/) {
  return false;
}

}  // namespace

#define TOCCA_NADAM(S)                                                                                              \
  HWY_EXPORT(update_##S);                                                                                           \
  HWY_EXPORT(prepare_##S);                                                                                          \
  HWY_EXPORT(update_rows_##S);                                                                                      \
  void nadam_update(const NadamStep& step, const NadamArrays<S>& arrays, std::span<const S> gradients) {            \
    HWY_DYNAMIC_DISPATCH(update_##S)(step, arrays, gradients.data(), gradients.size());                             \
  }                                                                                                                 \
  void nadam_update(const NadamStep& step, const NadamArrays<S>& arrays, const OuterProduct<S>& g, Workspace& work, \
                    const Pieces& pieces) {                                                                         \
    const Workspace::Frame frame(work);                                                                             \
    if (update_without_sums(step, arrays, g, work) || update_by_unit(step, arrays, g, work, pieces)) return;        \
    const OuterScratch<S> scratch =                                                                                 \
        HWY_DYNAMIC_DISPATCH(prepare_##S)(g, work, static_cast<std::size_t>(pieces.threads()));                     \
    pieces.share(static_cast<Index>(g.rows), kWeightRows, static_cast<Index>(g.samples * g.columns),                \
                 [&](Index first, Index count) {                                                                    \
                   HWY_DYNAMIC_DISPATCH(update_rows_##S)                                                            \
                   (step, g, arrays, scratch, static_cast<std::size_t>(first),                                      \
                    static_cast<std::size_t>(first + count), static_cast<std::size_t>(pieces.thread()));            \
                 });                                                                                                \
  }
TOCCA_NADAM(float)
TOCCA_NADAM(double)
#undef TOCCA_NADAM

}  // namespace tocca
#endif
