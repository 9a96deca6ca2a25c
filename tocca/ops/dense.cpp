#include "tocca/ops/dense.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/columns.h"

namespace tocca {

template <class S>
void dense_forward(ConstMatrixRef<S> x, ConstMatrixRef<S> weight, ConstRowRef<S> bias, MatrixRef<S> y) {
  if (bias.size() == 0) {
    multiply<S>(x, weight, y);
    return;
  }
  y.rowwise() = bias;
  multiply<S>(x, weight, y, 1, 1);
}

template <class S>
void dense_backward_weight(ConstMatrixRef<S> x, ConstMatrixRef<S> dy, MatrixRef<S> dweight) {
  multiply_at_b<S>(x, dy, dweight);
}

template <class S>
void dense_backward_bias(ConstMatrixRef<S> dy, RowRef<S> dbias) {
  column_sums<S>(dy, dbias);
}

template <class S>
void dense_backward_input(ConstMatrixRef<S> dy, ConstMatrixRef<S> weight, MatrixRef<S> dx) {
  multiply_a_bt<S>(dy, weight, dx);
}

#define TOCCA_INSTANTIATE(S)                                                                          \
  template void dense_forward<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, ConstRowRef<S>, MatrixRef<S>); \
  template void dense_backward_weight<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>);         \
  template void dense_backward_bias<S>(ConstMatrixRef<S>, RowRef<S>);                                 \
  template void dense_backward_input<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
