#include "tocca/ops/dense.h"

#include <algorithm>

#include "tocca/linalg/blas.h"
#include "tocca/ops/columns.h"

namespace tocca {
namespace {

static_assert(kSmallBatch == kFewRows);  // their kernels read rows

// Calls task(first row, rows, place for what is packed, done) for parts of a product y in panels, which calls done()
// for columns once they are there. Several threads share rows, of which there are more than columns.
template <class S>
void make_product(const PanelMap<S>& y, Workspace& work, const Pieces& pieces,
                  FunctionRef<void(Index, Index, S*, ColumnsDone)> task, ColumnsDone done) {
  const Workspace::Frame frame(work);
  MatrixMap<S> packed = work.matrix<S>(pieces.cut() ? pieces.threads() : 1, packed_numbers<S>());
  if (!pieces.cut()) return task(0, y.rows(), packed.data(), done);
  pieces.over_rows(y.rows(),
                   [&](Index first, Index count) { task(first, count, packed.row(pieces.thread()).data(), kNothing); });
  pieces.over_columns(y.cols(), done);
}

}  // namespace

template <class S>
void dense_forward(ConstMatrixRef<S> x, ConstMatrixRef<S> weight, ConstRowRef<S> bias, MatrixRef<S> y,
                   const Pieces& pieces) {
  if (!pieces.cut() && x.rows() <= kFewRows) {
    pieces.share(y.cols(), columns_worth_a_call<S>(x.rows(), x.cols(), y.cols()), x.size(),
                 [&](Index first, Index count) {
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
  const auto task = [&](Index first, Index count, S* packed, ColumnsDone there) {
    multiply_panels<S>(x.middle_rows(first, count), weight, y.middle_rows(first, count), packed, there);
  };
  make_product<S>(y, work, pieces, task, done);
}

template <class S>
void dense_backward_weight(PanelMap<const S> x, PanelMap<const S> dy, MatrixRef<S> dweight, Workspace& work,
                           const Pieces& pieces, ColumnsDone done) {
  const Workspace::Frame frame(work);
  const bool in_panels = x.in_panels();
  MatrixMap<S> packed = work.matrix<S>(in_panels ? pieces.threads() : 0, packed_numbers<S>());
  Pieces own = pieces;
  if (in_panels) own.columns = std::max(own.columns, left_columns_worth_a_call<S>());
  own.over_columns(x.cols(), [&](Index first, Index count) {
    auto rows = dweight.middleRows(first, count);
    if (in_panels) {
      multiply_panels_at_b<S>(x.middle_columns(first, count), dy, rows, packed.row(pieces.thread()).data());
    } else {
      multiply_at_b<S>(x.middle_columns(first, count).matrix(), dy.matrix(), rows);
    }
    done(first, count);
  });
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
  const auto task = [&](Index first, Index count, S* packed, ColumnsDone there) {
    multiply_panels_a_bt<S>(dy.middle_rows(first, count), weight, dx.middle_rows(first, count), packed, there);
  };
  make_product<S>(dx, work, pieces, task, done);
}

#define TOCCA_INSTANTIATE(S)                                                                                          \
  template void dense_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, ConstRowRef<S>, MatrixRef<S>, const Pieces&);  \
  template void dense_forward<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, Workspace&, const Pieces&,        \
                                 ColumnsDone);                                                                        \
  template void dense_backward_weight<S>(PanelMap<const S>, PanelMap<const S>, MatrixRef<S>, Workspace&,              \
                                         const Pieces&, ColumnsDone);                                                 \
  template void dense_backward_bias<S>(ConstMatrixRef<S>, RowRef<S>);                                                 \
  template void dense_backward_input<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, const Pieces&);           \
  template void dense_backward_input<S>(PanelMap<const S>, ConstMatrixRef<S>, PanelMap<S>, Workspace&, const Pieces&, \
                                        ColumnsDone);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
