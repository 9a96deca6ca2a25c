/// ReLU and batch normalisation.
///
/// S. Ioffe, C. Szegedy, Batch normalization, ICML 2015. A batch is normalised with its biased variance (divided by m);
/// the running variance that inference uses is the unbiased one (divided by m − 1), so that unseen data come out with
/// unit variance too.
#pragma once

#include "tocca/core/panels.h"
#include "tocca/ops/pieces.h"

namespace tocca {

/// Added to the variance. The value of Keras, which the published program runs on.
inline constexpr double kBatchNormEpsilon = 1e-3;

/// y ← max(y, 0).
template <class S>
void relu_forward(MatrixRef<S> y);

/// What batch norm remembers of a batch for the way back.
template <class S>
struct BatchNormCache {
  RowVector<S> mean;               ///< (d)
  RowVector<S> variance;           ///< (d) biased
  RowVector<S> inverse_deviation;  ///< (d) 1/√(variance + ε)
  Matrix<S> scratch;               ///< place for what lies between, so that a step allocates nothing

  /// For d columns.
  void resize(Index d);
};

/// Each matrix of what follows may lie row by row or in panels.
///
/// out (m × d) ← scale ∘ (y − mean)/√(variance + ε) + shift over the batch y (m × d), m ≥ 2. Empty scale and shift: 1
/// and 0.
template <class S>
void batch_norm_forward(PanelMap<const S> y, ConstRowRef<S> scale, ConstRowRef<S> shift, BatchNormCache<S>& cache,
                        PanelMap<S> out, const Pieces& pieces = {});

/// Gradients with respect to scale and shift (left alone if empty) and, in place of dout (m × d), to y.
template <class S>
void batch_norm_backward(PanelMap<const S> y, ConstRowRef<S> scale, BatchNormCache<S>& cache, PanelMap<S> dout,
                         RowRef<S> dscale, RowRef<S> dshift, const Pieces& pieces = {});

/// The same two for columns first ... first + count − 1 of a layer y = ReLU(x W + bias); columns do not depend on each
/// other. Forward: in y comes x W, and goes y; the cache has been resized. Backward: the gradient with respect to x W,
/// which is where y is positive; dbias are its column sums.
template <class S>
void relu_batch_norm_forward(PanelMap<S> y, Index first, Index count, ConstRowRef<S> bias, ConstRowRef<S> scale,
                             ConstRowRef<S> shift, BatchNormCache<S>& cache, PanelMap<S> out);
template <class S>
void relu_batch_norm_backward(PanelMap<const S> y, Index first, Index count, ConstRowRef<S> scale,
                              BatchNormCache<S>& cache, PanelMap<S> dout, RowRef<S> dscale, RowRef<S> dshift,
                              RowRef<S> dbias);

/// Moves the running mean and unbiased variance (1 × d, before the bias correction) one batch on.
/// keep, add: see RunningWeights.
template <class S>
void batch_norm_update(const BatchNormCache<S>& cache, Index rows, double keep, double add, MatrixRef<double> mean,
                       MatrixRef<double> variance);

/// out ← scale ∘ (y − mean)/√(variance + ε) + shift with the (corrected) running statistics; in place allowed.
template <class S>
void batch_norm_infer(ConstMatrixRef<S> y, ConstRowRef<S> scale, ConstRowRef<S> shift, ConstMatrixRef<double> mean,
                      ConstMatrixRef<double> variance, MatrixRef<S> out);

}  // namespace tocca
