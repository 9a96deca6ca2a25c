#include "tocca/ops/dense.h"

#include <algorithm>

#include "tocca/linalg/blas.h"
#include "tocca/linalg/panel_products.h"
#include "tocca/ops/columns.h"

namespace tocca {
namespace {

static_assert(kSmallBatch == kFewRows);  // their kernels read rows

// Columns of a product that are made for all rows of a batch and then worked on while they are in the second-level
// cache, and so many bytes of them fit: whole panels.
constexpr Index kGroup = 96, kGroupBytes = 1 << 20;
static_assert(kGroup % kPanelColumns<float> == 0 && kGroup % kPanelColumns<double> == 0);

// Calls task(first row, rows, first column, columns, place for what is packed) for parts of a product y in panels, and
// done() for columns whose rows are all there. Several threads share rows, of which there are more than columns.
template <class S>
void make_product(const PanelMap<S>& y, Workspace& work, const Pieces& pieces,
                  FunctionRef<void(Index, Index, Index, Index, S*)> task, ColumnsDone done) {
  const Workspace::Frame frame(work);
  const Index m = y.rows(), n = y.cols();
  if (pieces.cut() || m * kGroup * static_cast<Index>(sizeof(S)) > kGroupBytes) {
    MatrixMap<S> packed = work.matrix<S>(pieces.threads(), kPackedNumbers<S>);
    pieces.over_rows(m,
                     [&](Index first, Index count) { task(first, count, 0, n, packed.row(pieces.thread()).data()); });
    return pieces.over_columns(n, done);
  }
  S* const packed = work.matrix<S>(1, kPackedNumbers<S>).data();
  for (Index first = 0; first < n; first += kGroup) {
    const Index count = std::min(kGroup, n - first);
    task(0, m, first, count, packed);
    done(first, count);
  }
}

}  // namespace

template <class S>
void dense_forward(ConstMatrixRef<S> x, ConstMatrixRef<S> weight, ConstRowRef<S> bias, MatrixRef<S> y,
                   const Pieces& pieces) {
  constexpr Index kColumns = 48;  // whole panels of the product (linalg/tile_inl.h)
  if (!pieces.cut() && x.rows() <= kFewRows) {
    pieces.share(y.cols(), kColumns, x.size(), [&](Index first, Index count) {
      if (bias.size() > 0) y.middleCols(first, count).rowwise() = bias.segment(first, count);
      multiply_columns<S>(x, weight, y, first, count, 1, bias.size() > 0 ? S(1) : S(0));
    });
    return;
  }
  pieces.over_rows(x.rows(), [&](Index first, Index count) {
    auto rows = y.middleRows(first, count);
    if (bias.size() > 0) rows.rowwise() = bias;
    multiply<S>(x.middleRows(first, count), weight, rows, 1, bias.size() > 0 ? S(1) : S(0));
  });
}

template <class S>
void dense_forward(PanelMap<const S> x, ConstMatrixRef<S> weight, PanelMap<S> y, Workspace& work, const Pieces& pieces,
                   ColumnsDone done) {
  if (!x.in_panels()) {
    const RowVector<S> none;
    dense_forward<S>(x.matrix(), weight, none, y.matrix(), pieces);
    return pieces.over_columns(y.cols(), done);
  }
  const auto task = [&](Index row, Index rows, Index first, Index count, S* packed) {
    multiply_panels<S>(x.middle_rows(row, rows), weight.middleCols(first, count),
                       y.middle_rows(row, rows).middle_columns(first, count), packed);
  };
  make_product<S>(y, work, pieces, task, done);
}

template <class S>
void dense_backward_weight(PanelMap<const S> x, PanelMap<const S> dy, MatrixRef<S> dweight) {
  if (x.in_panels()) return multiply_panels_at_b<S>(x, dy, dweight);
  multiply_at_b<S>(x.matrix(), dy.matrix(), dweight);
}

template <class S>
void dense_backward_bias(ConstMatrixRef<S> dy, RowRef<S> dbias) {
  column_sums<S>(dy, dbias);
}

template <class S>
void dense_backward_input(ConstMatrixRef<S> dy, ConstMatrixRef<S> weight, MatrixRef<S> dx, const Pieces& pieces) {
  pieces.over_rows(dy.rows(), [&](Index first, Index count) {
    multiply_a_bt<S>(dy.middleRows(first, count), weight, dx.middleRows(first, count));
  });
}

template <class S>
void dense_backward_input(PanelMap<const S> dy, ConstMatrixRef<S> weight, PanelMap<S> dx, Workspace& work,
                          const Pieces& pieces, ColumnsDone done) {
  if (!dy.in_panels()) {
    dense_backward_input<S>(dy.matrix(), weight, dx.matrix(), pieces);
    return pieces.over_columns(dx.cols(), done);
  }
  const auto task = [&](Index row, Index rows, Index first, Index count, S* packed) {
    multiply_panels_a_bt<S>(dy.middle_rows(row, rows), weight.middleRows(first, count),
                            dx.middle_rows(row, rows).middle_columns(first, count), packed);
  };
  make_product<S>(dx, work, pieces, task, done);
}

#define TOCCA_INSTANTIATE(S)                                                                                          \
  template void dense_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, ConstRowRef<S>, MatrixRef<S>, const Pieces&);  \
  template void dense_forward<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, Workspace&, const Pieces&,        \
                                 ColumnsDone);                                                                        \
  template void dense_backward_weight<S>(PanelMap<const S>, PanelMap<const S>, MatrixRef<S>);                         \
  template void dense_backward_bias<S>(ConstMatrixRef<S>, RowRef<S>);                                                 \
  template void dense_backward_input<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, const Pieces&);           \
  template void dense_backward_input<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, Workspace&, const Pieces&, \
                                        ColumnsDone);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
