/// The fully connected layer, Y = X W + b.
#pragma once

#include "tocca/ops/pieces.h"

namespace tocca {

/// y (m × out) ← x (m × in) · weight (in × out) + bias (out; empty: none).
template <class S>
void dense_forward(ConstMatrixRef<S> x, ConstMatrixRef<S> weight, ConstRowRef<S> bias, MatrixRef<S> y,
                   const Pieces& pieces = {});

/// dweight (in × out) ← xᵀ dy.
template <class S>
void dense_backward_weight(ConstMatrixRef<S> x, ConstMatrixRef<S> dy, MatrixRef<S> dweight);

/// dbias (out) ← column sums of dy. `scratch` grows to (2 × out) and may be used again.
template <class S>
void dense_backward_bias(ConstMatrixRef<S> dy, RowRef<S> dbias, Matrix<S>& scratch);

/// dx (m × in) ← dy weightᵀ.
template <class S>
void dense_backward_input(ConstMatrixRef<S> dy, ConstMatrixRef<S> weight, MatrixRef<S> dx, const Pieces& pieces = {});

}  // namespace tocca
