#include "tocca/linalg/panel_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "tocca/core/error.h"
#include "tocca/linalg/blocked.h"
#include "tocca/linalg/matrix_unit.h"
#include "tocca/linalg/split_products.h"

namespace tocca {
namespace {

static_assert(detail::PanelRows<float>::kWidth == kPanelColumns<float>);
static_assert(detail::PanelRows<double>::kWidth == kPanelColumns<double>);

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

// The matrix unit knows single precision alone.
template <class S>
bool by_unit() {
  return std::is_same_v<S, float> && detail::matrix_unit() != detail::MatrixUnit::kNone;
}

template <class T>
detail::PanelRows<T> panel_rows(const char* where, const PanelMap<T>& m) {
  if (!m.in_panels()) throw InputError(where, "layout: got a matrix row by row, need one in panels; copy it");
  return {m.data(), size(m.jump())};
}

// Sums of `a_terms` and `b_terms` terms; C is rows × columns and should be m × n.
void require(const char* where, Index a_terms, Index b_terms, Index rows, Index columns, Index m, Index n) {
  if (a_terms != b_terms) {
    throw InputError(
        where, fmt::format("inner dimensions: got {} and {}, need equal ones; check both matrices", a_terms, b_terms));
  }
  if (rows != m || columns != n) {
    throw InputError(where, fmt::format("shape of C: got {} x {}, need {} x {}; resize it", rows, columns, m, n));
  }
}

// Columns that are made together fit into the second-level cache.
template <class S>
bool hands_on(Index rows) {
  constexpr std::size_t kMostBytes = 1 << 20;
  return size(rows) * detail::kColumnsTogether * sizeof(S) <= kMostBytes;
}

// Some columns of C, with those of B in A B, and with rows of B in A Bᵀ.
template <class S>
detail::PanelProduct<S> columns_of(detail::PanelProduct<S> p, std::size_t first, std::size_t count, bool transposed) {
  static_assert(detail::kColumnsTogether % detail::PanelRows<S>::kWidth == 0);
  p.b.data = transposed ? p.b.at(first) : p.b.at(0, first);
  p.c.data = p.c.at(0, first);
  p.n = count;
  return p;
}

template <class S>
void multiply(const detail::PanelProduct<S>& p, bool transposed, ColumnsDone done) {
  const auto rows = static_cast<Index>(p.m), columns = static_cast<Index>(p.n);
  if (p.k == 0 || p.m == 0) {
    const auto c = PanelMap<S>::in_panels(p.c.data, rows, columns);
    c.each_panel(0, columns, c, [&](Index first, Index count) { c.part(first, count).setZero(); });
    return done(0, columns);
  }
  const bool hand_on = hands_on<S>(rows);
  if constexpr (std::is_same_v<S, float>) {
    if (by_unit<S>()) {
      const auto there = [&](std::size_t first, std::size_t count) {
        if (hand_on) done(static_cast<Index>(first), static_cast<Index>(count));
      };
      transposed ? detail::split_a_bt(p, there) : detail::split_a_b(p, there);
      if (!hand_on) done(0, columns);
      return;
    }
  }
  const std::size_t step = hand_on ? detail::kColumnsTogether : p.n;
  for (std::size_t first = 0; first < p.n; first += step) {
    const auto part = columns_of(p, first, std::min(step, p.n - first), transposed);
    transposed ? detail::panels_a_bt(part) : detail::panels_a_b(part);
    done(static_cast<Index>(first), static_cast<Index>(part.n));
  }
}

}  // namespace

template <class S>
Index packed_numbers() {
  return static_cast<Index>(by_unit<S>() ? detail::split_room() : detail::kPackedNumbers<S>);
}

template <class S>
Index left_columns_worth_a_call() {
  return by_unit<S>() ? 4 * kPanelColumns<S> : kPanelColumns<S>;
}

template <class S>
void multiply_panels(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed, ColumnsDone done) {
  constexpr const char* kWhere = "multiply_panels";
  require(kWhere, a.cols(), b.rows(), c.rows(), c.cols(), a.rows(), b.cols());
  multiply<S>({size(a.rows()), size(a.cols()), size(b.cols()), panel_rows(kWhere, a), rows_of<S>(b),
               panel_rows(kWhere, c), packed},
              false, done);
}

template <class S>
void multiply_panels_a_bt(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed, ColumnsDone done) {
  constexpr const char* kWhere = "multiply_panels_a_bt";
  require(kWhere, a.cols(), b.cols(), c.rows(), c.cols(), a.rows(), b.rows());
  multiply<S>({size(a.rows()), size(a.cols()), size(b.rows()), panel_rows(kWhere, a), rows_of<S>(b),
               panel_rows(kWhere, c), packed},
              true, done);
}

template <class S>
void multiply_panels_at_b(PanelMap<const S> a, PanelMap<const S> b, MatrixRef<S> c, S* packed) {
  constexpr const char* kWhere = "multiply_panels_at_b";
  require(kWhere, a.rows(), b.rows(), c.rows(), c.cols(), a.cols(), b.cols());
  if (a.rows() == 0 || c.size() == 0) {
    c.setZero();
    return;
  }
  const detail::InnerPanelProduct<S> product{
      size(a.cols()),        size(a.rows()), size(b.cols()), panel_rows(kWhere, a),
      panel_rows(kWhere, b), rows_of<S>(c),  packed};
  if constexpr (std::is_same_v<S, float>) {
    if (by_unit<S>()) return detail::split_at_b(product);
  }
  detail::panels_at_b(product);
}

#define TOCCA_INSTANTIATE(S)                                                                                 \
  template Index packed_numbers<S>();                                                                        \
  template Index left_columns_worth_a_call<S>();                                                             \
  template void multiply_panels<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, S*, ColumnsDone);      \
  template void multiply_panels_a_bt<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, S*, ColumnsDone); \
  template void multiply_panels_at_b<S>(PanelMap<const S>, PanelMap<const S>, MatrixRef<S>, S*);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
