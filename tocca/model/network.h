/// The network of every deep method: one encoder a view, a projection into the shared space, and a head for the task.
///
///     x_v → [dense → ReLU → batch norm] × L → dense (no bias) → batch norm (no scale, shift) = A_v
///     A_v → whitening (TOCCA-W), the CCA layer (CCAL) or nothing = Z_v → Z_v W + b = logits
#pragma once

#include <cstddef>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/model/buffer.h"
#include "tocca/ops/whitening.h"

namespace tocca {

enum class Projection { identity, whiten, cca };

struct NetworkShape {
  std::vector<Index> inputs;  ///< (V) columns of each view, ≥ 1
  Index hidden_layers = 2;    ///< L ≥ 0
  Index hidden_size = 200;    ///< ≥ 1
  Index components = 50;      ///< d_o ≥ 1
  Index classes = 2;          ///< C ≥ 2, or 0: no head
  bool shared_head = true;    ///< one set of head weights for all views, or one each
  Projection projection = Projection::identity;
  bool decorrelated = false;  ///< keeps the statistics of the soft decorrelation loss
  bool paired = false;        ///< keeps the covariances of each pair of views (trace norm); the CCA layer always does
  double momentum = 0.99;     ///< α of all running statistics
  WhiteningOptions whitening = {};  ///< also of the CCA layer and the trace norm, where epsilon is the ridge

  [[nodiscard]] bool keeps_pairs() const { return paired || projection == Projection::cca; }
};

/// Slots of a hidden layer: parameters, then statistics.
struct HiddenSlots {
  Slot weight, bias, scale, shift;
  Slot mean, variance;
};

struct HeadSlots {
  Slot weight, bias;
};

/// Slots of one view's encoder and projection.
struct EncoderSlots {
  std::vector<HiddenSlots> hidden;
  Slot output_weight;
  Slot output_mean, output_variance;
  Slot batches;  ///< statistic (1 × 1): training batches seen, k
  Slot whitening_mean, whitening_covariance, whitening_centre, whitening_transform;
  Slot decorrelation_cross, decorrelation_normaliser;
};

/// Slots of a pair of views u < v: running means and covariances of A, and with the CCA layer what inference uses.
struct PairSlots {
  std::size_t u = 0;
  std::size_t v = 1;
  Slot batches;  ///< (1 × 1): batches seen, k
  Slot mean1, mean2, s11, s22, s12;
  Slot centre1, centre2, weights1, weights2;
};

/// Parameters and statistics with their names. A value: copying a network is a snapshot of everything training changes.
/// Parameter names: `view0.hidden0.weight` (in × out), `.bias`, `.scale`, `.shift`, `view0.output.weight`,
/// `head.weight` (d_o × C), `head.bias` (with a head a view: `view0.head.weight`).
/// S: float (training) or double (gradient checks); statistics are always double.
template <class S>
struct Network {
  NetworkShape shape;
  Layout parameter_layout;
  Layout statistic_layout;
  std::vector<EncoderSlots> encoders;  ///< (V)
  std::vector<HeadSlots> heads;        ///< (1) shared, or (V); none without classes
  std::vector<PairSlots> pairs;        ///< (V (V − 1) / 2) where they are kept
  Buffer<S> parameters;
  Buffer<double> statistics;

  /// All zero (scales too). Throws InputError for an impossible shape.
  explicit Network(const NetworkShape& shape);
  /// Weights Glorot-uniform, scales 1, biases and shifts 0.
  void initialize(Rng rng);

  [[nodiscard]] bool has_head() const { return !heads.empty(); }
  [[nodiscard]] Index views() const { return static_cast<Index>(encoders.size()); }
  [[nodiscard]] const HeadSlots& head(Index view) const {
    return heads[shape.shared_head ? 0 : static_cast<std::size_t>(view)];
  }
  [[nodiscard]] const EncoderSlots& encoder(Index view) const { return encoders[static_cast<std::size_t>(view)]; }
  /// No parameter or statistic is NaN or infinite.
  [[nodiscard]] bool finite() const;
};

/// Projections Z (m × d_o) of standardised rows x (m × d_v) of a view, with the running statistics.
template <class S>
Matrix<S> project(const Network<S>& network, Index view, ConstMatrixRef<S> x);

/// The two halves of project(): activations A (m × d_o) of standardised rows, and Z of activations.
template <class S>
Matrix<S> activations(const Network<S>& network, Index view, ConstMatrixRef<S> x);
template <class S>
Matrix<S> project_activations(const Network<S>& network, Index view, ConstMatrixRef<S> a);

/// Log-probabilities (m × C) of the head for projections z (m × d_o) of a view.
template <class S>
Matrix<S> head_log_probabilities(const Network<S>& network, Index view, ConstMatrixRef<S> z);

}  // namespace tocca
