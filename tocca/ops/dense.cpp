#include "tocca/ops/dense.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/columns.h"

namespace tocca {

namespace {

static_assert(kSmallBatch == kFewRows);  // their kernels read rows

// Calls task(first, count, place for what is packed) for pieces of n rows.
template <class S>
void over_rows_in_panels(Index n, Workspace& work, const Pieces& pieces, FunctionRef<void(Index, Index, S*)> task) {
  const Workspace::Frame frame(work);
  const Index threads = pieces.cut() ? pieces.threads() : 1;
  MatrixMap<S> packed = work.matrix<S>(threads, kPackedNumbers<S>);
  pieces.over_rows(
      n, [&](Index first, Index count) { task(first, count, packed.row(pieces.cut() ? pieces.thread() : 0).data()); });
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
void dense_forward(PanelMap<const S> x, ConstMatrixRef<S> weight, PanelMap<S> y, Workspace& work,
                   const Pieces& pieces) {
  if (!x.in_panels()) {
    const RowVector<S> none;
    return dense_forward<S>(x.matrix(), weight, none, y.matrix(), pieces);
  }
  over_rows_in_panels<S>(x.rows(), work, pieces, [&](Index first, Index count, S* packed) {
    multiply_panels<S>(x.middle_rows(first, count), weight, y.middle_rows(first, count), packed);
  });
}

template <class S>
void dense_backward_weight(ConstMatrixRef<S> x, ConstMatrixRef<S> dy, MatrixRef<S> dweight) {
  multiply_at_b<S>(x, dy, dweight);
}

template <class S>
void dense_backward_weight(PanelMap<const S> x, Index first, Index count, PanelMap<const S> dy, MatrixRef<S> dweight) {
  if (x.in_panels()) return multiply_panels_at_b<S>(x, first, count, dy, dweight);
  multiply_at_b<S>(x.matrix().middleCols(first, count), dy.matrix(), dweight);
}

template <class S>
void dense_backward_bias(ConstMatrixRef<S> dy, RowRef<S> dbias, Matrix<S>& scratch) {
  column_sums<S>(dy, dbias, scratch);
}

template <class S>
void dense_backward_input(ConstMatrixRef<S> dy, ConstMatrixRef<S> weight, MatrixRef<S> dx, const Pieces& pieces) {
  pieces.over_rows(dy.rows(), [&](Index first, Index count) {
    multiply_a_bt<S>(dy.middleRows(first, count), weight, dx.middleRows(first, count));
  });
}

template <class S>
void dense_backward_input(PanelMap<const S> dy, ConstMatrixRef<S> weight, PanelMap<S> dx, Workspace& work,
                          const Pieces& pieces) {
  if (!dy.in_panels()) return dense_backward_input<S>(dy.matrix(), weight, dx.matrix(), pieces);
  over_rows_in_panels<S>(dy.rows(), work, pieces, [&](Index first, Index count, S* packed) {
    multiply_panels_a_bt<S>(dy.middle_rows(first, count), weight, dx.middle_rows(first, count), packed);
  });
}

#define TOCCA_INSTANTIATE(S)                                                                                         \
  template void dense_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, ConstRowRef<S>, MatrixRef<S>, const Pieces&); \
  template void dense_forward<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, Workspace&, const Pieces&);      \
  template void dense_backward_weight<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>);                        \
  template void dense_backward_weight<S>(PanelMap<const S>, Index, Index, PanelMap<const S>, MatrixRef<S>);          \
  template void dense_backward_bias<S>(ConstMatrixRef<S>, RowRef<S>, Matrix<S>&);                                    \
  template void dense_backward_input<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, const Pieces&);          \
  template void dense_backward_input<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, Workspace&, const Pieces&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
