/// Nadam: Adam with Nesterov momentum.
///
/// T. Dozat, Incorporating Nesterov momentum into Adam, ICLR workshop 2016, with the momentum schedule
/// μ_t = β₁ (1 − ½ · 0.96^{ψ t}).
#pragma once

#include <cstddef>
#include <span>

#include "tocca/core/matrix.h"
#include "tocca/core/rows.h"
#include "tocca/core/workspace.h"
#include "tocca/ops/pieces.h"

namespace tocca {

struct NadamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double schedule_decay = 0.004;  ///< ψ
};

/// The scalars of one step: p ← p − (gradient · g + moment · m)/(√(second · v) + ε) with the moments already renewed.
struct NadamCoefficients {
  double gradient = 0;
  double moment = 0;
  double second = 0;
};

/// Where the optimiser stands; a value, saved with a checkpoint.
struct NadamSchedule {
  double step = 0;
  double momentum_product = 1;  ///< Π μ_t

  /// Moves on to the next step.
  NadamCoefficients next(const NadamOptions& options);
};

/// What one step is made of: p ← p − ..., with `decay` · p added to the gradient.
struct NadamStep {
  NadamOptions options;
  NadamCoefficients coefficients;
  double decay = 0;
};

/// Parameters and both moments (n each), which a step renews.
template <class S>
struct NadamArrays {
  S* parameters;
  S* first;
  S* second;
};

/// The way back through y = x W: the weight gradient xᵀ dy (rows × columns), which is never written to memory, from x
/// (samples × rows) and dy (samples × columns).
template <class S>
struct OuterProduct {
  Rows<const S> x, dy;
  std::size_t samples, rows, columns;
  /// Where the gradient with respect to x goes, dy Wᵀ with the weights before their update (samples × rows); nowhere
  /// without data.
  Rows<S> dx{nullptr, 0};
};

/// Rows of weights that update kernels work on at a time, with any number of registers: parts of a matrix that begin at
/// multiples of it cost nothing.
inline constexpr Index kWeightRows = 24;

/// One step with given gradients (n).
void nadam_update(const NadamStep& step, const NadamArrays<float>& arrays, std::span<const float> gradients);
void nadam_update(const NadamStep& step, const NadamArrays<double>& arrays, std::span<const double> gradients);
/// One step on a weight matrix (rows × columns, contiguous) whose gradient is computed on the way. With up to some 2000
/// columns the weights are read from memory once, for the gradient with respect to x as well. Rows are shared with idle
/// threads. What lies between is taken from `work` and given back.
void nadam_update(const NadamStep& step, const NadamArrays<float>& arrays, const OuterProduct<float>& gradient,
                  Workspace& work, const Pieces& pieces = {});
void nadam_update(const NadamStep& step, const NadamArrays<double>& arrays, const OuterProduct<double>& gradient,
                  Workspace& work, const Pieces& pieces = {});

}  // namespace tocca
