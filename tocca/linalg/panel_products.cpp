#include "tocca/linalg/panel_products.h"

#include <fmt/format.h>

#include "tocca/core/error.h"
#include "tocca/linalg/blocked.h"

namespace tocca {
namespace {

static_assert(detail::PanelRows<float>::kWidth == kPanelColumns<float>);
static_assert(detail::PanelRows<double>::kWidth == kPanelColumns<double>);

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

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

template <class S>
void clear(const PanelMap<S>& c) {
  c.each_panel(0, c.cols(), c, [&](Index first, Index count) { c.part(first, count).setZero(); });
}

}  // namespace

template <class S>
void multiply_panels(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed) {
  constexpr const char* kWhere = "multiply_panels";
  require(kWhere, a.cols(), b.rows(), c.rows(), c.cols(), a.rows(), b.cols());
  if (a.cols() == 0) return clear(c);
  detail::panels_a_b(detail::PanelProduct<S>{size(a.rows()), size(a.cols()), size(b.cols()), panel_rows(kWhere, a),
                                             rows_of<S>(b), panel_rows(kWhere, c), packed});
}

template <class S>
void multiply_panels_a_bt(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed) {
  constexpr const char* kWhere = "multiply_panels_a_bt";
  require(kWhere, a.cols(), b.cols(), c.rows(), c.cols(), a.rows(), b.rows());
  if (a.cols() == 0) return clear(c);
  detail::panels_a_bt(detail::PanelProduct<S>{size(a.rows()), size(a.cols()), size(b.rows()), panel_rows(kWhere, a),
                                              rows_of<S>(b), panel_rows(kWhere, c), packed});
}

template <class S>
void multiply_panels_at_b(PanelMap<const S> a, PanelMap<const S> b, MatrixRef<S> c) {
  constexpr const char* kWhere = "multiply_panels_at_b";
  require(kWhere, a.rows(), b.rows(), c.rows(), c.cols(), a.cols(), b.cols());
  if (a.rows() == 0) {
    c.setZero();
    return;
  }
  detail::panels_at_b(detail::InnerPanelProduct<S>{size(a.cols()), size(a.rows()), size(b.cols()),
                                                   panel_rows(kWhere, a), panel_rows(kWhere, b), rows_of<S>(c)});
}

#define TOCCA_INSTANTIATE(S)                                                                    \
  template void multiply_panels<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, S*);      \
  template void multiply_panels_a_bt<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, S*); \
  template void multiply_panels_at_b<S>(PanelMap<const S>, PanelMap<const S>, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
