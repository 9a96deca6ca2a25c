/// Nadam on a network's parameters: their moments, and where the schedule stands.
#pragma once

#include "tocca/core/panels.h"
#include "tocca/model/network.h"
#include "tocca/model/safetensors.h"
#include "tocca/ops/nadam.h"

namespace tocca {

/// The way back through rows of a weight matrix, y = x W: the gradient with respect to them is xᵀ dy.
template <class S>
struct WeightRows {
  const Slot& weight;
  Index first;           ///< row of the weights that column 0 of x belongs to
  PanelMap<const S> x;   ///< (m × rows)
  PanelMap<const S> dy;  ///< (m × columns)
};

template <class S>
class Optimizer {
 public:
  /// The network must outlive it.
  explicit Optimizer(Network<S>& network);

  /// Moments and where it stands, to a file and back. Throws InputError for a file of another network.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

  /// Begins a step. Weights decay by the gradient of weight_decay · Σ‖W‖².
  void begin(const NadamOptions& options, double weight_decay);
  /// The step on all of a slot, or on rows of it, with these gradients.
  void update(const Slot& slot, const Buffer<S>& gradients) { update(slot, 0, slot.rows, gradients); }
  void update(const Slot& slot, Index first, Index rows, const Buffer<S>& gradients);
  /// The step on rows of a weight matrix, whose gradient is computed on the way. With columns in `dx` (m × rows) it
  /// becomes dy Wᵀ with the weights before the step. All of the batch lies row by row.
  void update(const WeightRows<S>& rows, PanelMap<S> dx, Workspace& work, const Pieces& pieces);

 private:
  [[nodiscard]] NadamStep step_of(const Slot& slot) const;
  [[nodiscard]] NadamArrays<S> arrays(const Slot& slot, Index first);

  Network<S>& network_;
  Buffer<S> first_moments_, second_moments_;
  NadamSchedule schedule_;
  NadamOptions options_;
  NadamCoefficients coefficients_;
  double weight_decay_ = 0;
};

}  // namespace tocca
