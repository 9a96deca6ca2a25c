/// Running statistics with momentum and without start-up bias.
#pragma once

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

}  // namespace tocca
