/// Running statistics with momentum and without start-up bias.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"
#include "tocca/linalg/symmetric.h"

namespace tocca {

/// s⁽ᵏ⁾ = keep · s⁽ᵏ⁻¹⁾ + add · s_batch from s⁽⁰⁾ = 0, used as correction · s⁽ᵏ⁾. Without the correction 1/(1 − αᵏ) the
/// first batches would be drawn towards zero. A gradient that flows into the used value reaches the current batch
/// scaled by `share` = add · correction.
struct RunningWeights {
  double keep = 0;
  double add = 1;
  double correction = 1;
  double share = 1;
};

/// For momentum α (the weight of the old statistic, 0 ≤ α < 1) and the number k ≥ 1 of the batch.
RunningWeights running_weights(double momentum, double batch_number);

/// A batch (m × d, m ≥ 2) moves the running mean (1 × d) and covariance (d × d) on. Of these as they are used: centre μ
/// (1 × d), the batch less μ, and the eigenvectors of Σ + `ridge` I.
template <class S>
void decompose_running_covariance(ConstMatrixRef<S> batch, const RunningWeights& w, double ridge,
                                  MatrixRef<double> mean, MatrixRef<double> covariance, RowRef<double> centre,
                                  KeptMatrix<double>& centred, SymmetricEigen& eigen, Workspace& work);

/// The way back through μ: d (m × d) ← d − share · the mean of its rows.
void subtract_share_of_mean(double share, MatrixRef<double> d, Workspace& work);

}  // namespace tocca
