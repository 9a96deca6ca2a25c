#include "tocca/ops/dense.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/columns.h"

namespace tocca {

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
void dense_backward_weight(ConstMatrixRef<S> x, ConstMatrixRef<S> dy, MatrixRef<S> dweight) {
  multiply_at_b<S>(x, dy, dweight);
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

#define TOCCA_INSTANTIATE(S)                                                                                         \
  template void dense_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, ConstRowRef<S>, MatrixRef<S>, const Pieces&); \
  template void dense_backward_weight<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>);                        \
  template void dense_backward_bias<S>(ConstMatrixRef<S>, RowRef<S>, Matrix<S>&);                                    \
  template void dense_backward_input<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>, const Pieces&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
