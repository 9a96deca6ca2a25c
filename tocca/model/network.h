/// The network of every deep method: one encoder a view, a projection into the shared space, and a head for each
/// target.
///
///     x_v → [dense → ReLU → batch norm] × L → dense (no bias) → batch norm (no scale, shift) = A_v
/// The last layer may have further columns, the private components P_v, which no other view sees, and a decoder may
/// lead from [A_v, P_v] back to the view: [dense → ReLU → batch norm] × L → dense = X̂_v.
///     A_v → whitening (TOCCA-W), the CCA layer (CCAL) or nothing = Z_v → Z_v W + b = outputs of each head
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/model/buffer.h"
#include "tocca/model/head.h"
#include "tocca/ops/whitening.h"

namespace tocca {

enum class Projection { identity, whiten, cca };
std::string_view name_of(Projection projection);
/// Nothing for a name there is not.
std::optional<Projection> parse_projection(std::string_view name);

struct NetworkShape {
  std::vector<Index> inputs;          ///< (V) columns of each view, ≥ 1
  Index hidden_layers = 2;            ///< L ≥ 0
  Index hidden_size = 200;            ///< ≥ 1
  Index components = 50;              ///< d_o ≥ 1
  std::vector<HeadShape> heads = {};  ///< one for each target
  bool shared_head = true;            ///< one set of weights of each head for all views, or one each
  Projection projection = Projection::identity;
  bool decorrelated = false;     ///< keeps the statistics of the soft decorrelation loss
  Index private_components = 0;  ///< p ≥ 0 columns of P_v
  bool reconstructs = false;     ///< has a decoder a view
  bool paired = false;     ///< keeps the covariances of each pair of views (trace norm); the CCA layer always does
  double momentum = 0.99;  ///< α of all running statistics
  WhiteningOptions whitening = {};  ///< also of the CCA layer and the trace norm, where epsilon is the ridge

  /// Columns of the last layer of an encoder.
  [[nodiscard]] Index encoder_outputs() const { return components + private_components; }
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
  std::vector<HiddenSlots> decoder;  ///< its hidden layers
  Slot decoder_weight, decoder_bias;
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
/// `head.weight` (d_o × outputs), `head.bias`, of further heads `head1.weight` and so on (with heads for each view:
/// `view0.head.weight`).
/// S: float (training) or double (gradient checks); statistics are always double.
template <class S>
struct Network {
  NetworkShape shape;
  Layout parameter_layout;
  Layout statistic_layout;
  std::vector<EncoderSlots> encoders;  ///< (V)
  std::vector<HeadSlots> heads;        ///< of each head one set, or V, views in order
  std::vector<PairSlots> pairs;        ///< (V (V − 1) / 2) where they are kept
  Buffer<S> parameters;
  Buffer<double> statistics;

  /// All zero (scales too). Throws InputError for an impossible shape.
  explicit Network(const NetworkShape& shape);
  /// Weights Glorot-uniform, scales 1, biases and shifts 0.
  void initialize(Rng rng);

  [[nodiscard]] bool has_head() const { return !heads.empty(); }
  [[nodiscard]] Index views() const { return static_cast<Index>(encoders.size()); }
  [[nodiscard]] const HeadSlots& head(std::size_t head, Index view) const {
    return heads[shape.shared_head ? head : head * encoders.size() + static_cast<std::size_t>(view)];
  }
  [[nodiscard]] const EncoderSlots& encoder(Index view) const { return encoders[static_cast<std::size_t>(view)]; }
  /// No parameter or statistic is NaN or infinite.
  [[nodiscard]] bool finite() const;
};

/// Projections Z (m × d_o) of standardised rows x (m × d_v) of a view, with the running statistics.
template <class S>
Matrix<S> project(const Network<S>& network, Index view, ConstMatrixRef<S> x);

/// Private components P (m × p) of standardised rows of a view.
template <class S>
Matrix<S> private_parts(const Network<S>& network, Index view, ConstMatrixRef<S> x);

/// The two halves of project(): activations A (m × d_o) of standardised rows, and Z of activations.
template <class S>
Matrix<S> activations(const Network<S>& network, Index view, ConstMatrixRef<S> x);
template <class S>
Matrix<S> project_activations(const Network<S>& network, Index view, ConstMatrixRef<S> a);

/// What a head says (m × outputs) for projections z (m × d_o) of a view, as head_scores() leaves it: log-probabilities
/// of classes, numbers, log hazards, logits of properties.
template <class S>
Matrix<S> head_outputs(const Network<S>& network, std::size_t head, Index view, ConstMatrixRef<S> z);

}  // namespace tocca
