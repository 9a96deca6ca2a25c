/// The fully connected layer, Y = X W + b.
#pragma once

#include "tocca/core/panels.h"
#include "tocca/ops/pieces.h"

namespace tocca {

/// y (m × out) ← x (m × in) · weight (in × out) + bias (out; empty: none).
template <class S>
void dense_forward(ConstMatrixRef<S> x, ConstMatrixRef<S> weight, ConstRowRef<S> bias, MatrixRef<S> y,
                   const Pieces& pieces = {});

/// The same without a bias, where both lie row by row or both in panels.
template <class S>
void dense_forward(PanelMap<const S> x, ConstMatrixRef<S> weight, PanelMap<S> y, const Pieces& pieces = {});

/// dweight (in × out) ← xᵀ dy. Both lie row by row, or both in panels.
template <class S>
void dense_backward_weight(PanelMap<const S> x, PanelMap<const S> dy, MatrixRef<S> dweight);

/// dbias (out) ← column sums of dy. `scratch` grows to (2 × out) and may be used again.
template <class S>
void dense_backward_bias(ConstMatrixRef<S> dy, RowRef<S> dbias, Matrix<S>& scratch);

/// dx (m × in) ← dy weightᵀ. Both lie row by row, or both in panels.
template <class S>
void dense_backward_input(PanelMap<const S> dy, ConstMatrixRef<S> weight, PanelMap<S> dx, const Pieces& pieces = {});

}  // namespace tocca
