/// The fully connected layer, Y = X W + b.
#pragma once

#include "tocca/core/panels.h"
#include "tocca/linalg/panel_products.h"
#include "tocca/ops/pieces.h"

namespace tocca {

/// y (m × out) ← x (m × in) · weight (in × out) + bias (out; empty: none).
template <class S>
void dense_forward(ConstMatrixRef<S> x, ConstMatrixRef<S> weight, ConstRowRef<S> bias, MatrixRef<S> y,
                   const Pieces& pieces = {});

/// The same without a bias, where both lie row by row or both in panels. What lies between is taken from `work` and
/// given back.
template <class S>
void dense_forward(PanelMap<const S> x, ConstMatrixRef<S> weight, PanelMap<S> y, Workspace& work, const Pieces& pieces,
                   ColumnsDone done);

/// dweight (in × out) ← xᵀ dy. Both lie row by row or both in panels. `done` is called for rows of it. What lies
/// between is taken from `work` and given back.
template <class S>
void dense_backward_weight(PanelMap<const S> x, PanelMap<const S> dy, MatrixRef<S> dweight, Workspace& work,
                           const Pieces& pieces = {}, ColumnsDone done = kNothing);

/// dbias (out) ← column sums of dy.
template <class S>
void dense_backward_bias(ConstMatrixRef<S> dy, RowRef<S> dbias);

/// dx (m × in) ← dy weightᵀ.
template <class S>
void dense_backward_input(ConstMatrixRef<S> dy, ConstMatrixRef<S> weight, MatrixRef<S> dx, const Pieces& pieces = {});
/// The same where both lie row by row or both in panels.
template <class S>
void dense_backward_input(PanelMap<const S> dy, ConstMatrixRef<S> weight, PanelMap<S> dx, Workspace& work,
                          const Pieces& pieces, ColumnsDone done);

}  // namespace tocca
