/// One view's way through its encoder and back, with every buffer it needs, allocated once.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/ops/batch_norm.h"
#include "tocca/ops/whitening.h"

namespace tocca {

/// What training does to a view at random, and inference does not.
struct Perturbation {
  double dropout = 0;        ///< rate after each hidden layer
  double input_dropout = 0;  ///< rate of the standardised columns
  double input_noise = 0;    ///< standard deviation of normal noise added to the standardised columns
};

template <class S>
class ViewPass {
 public:
  /// For batches of up to `capacity` rows of that view.
  ViewPass(const Network<S>& network, Index view, Index capacity);

  /// Where the caller puts the batch's standardised rows (m × d_v). m = 0: the view is left out of this step.
  MatrixMap<S> input(Index rows);
  /// x → A → Z on the batch, in training mode; the network's running statistics of this view move on.
  void forward(Network<S>& network, const Perturbation& perturbation, const Rng& rng);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] MatrixMap<S> a() { return top(a_); }                        ///< before whitening (m × d_o)
  [[nodiscard]] MatrixMap<S> z() { return projects_ ? top(z_) : top(a_); }  ///< in the shared space (m × d_o)
  [[nodiscard]] MatrixMap<S> dz() { return top(dz_); }                      ///< ∂L/∂Z, then ∂L/∂A (m × d_o)
  [[nodiscard]] MatrixMap<S> coupling() { return top(coupling_); }  ///< ∂/∂A of what ties pairs of views (m × d_o)
  [[nodiscard]] MatrixMap<S> logits() { return top(logits_); }      ///< (m × C)

  /// ∂L/∂Z in dz() becomes ∂L/∂A; nothing to do without whitening.
  void backward_projection();
  /// What to do with a weight matrix's gradient xᵀ dy, x (m × in), dy (m × out), once nothing needs the weight any
  /// more.
  using WeightGradient = std::function<void(const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy)>;
  /// From ∂L/∂A in dz() to the gradients of this view's parameters; weights' go to `weight_gradient`.
  void backward_encoder(const Network<S>& network, double dropout, const Rng& rng, Buffer<S>& gradients,
                        const WeightGradient& weight_gradient);

 private:
  struct Layer {
    Matrix<S> activated;  // after ReLU (capacity × h)
    Matrix<S> output;     // after batch norm and dropout (capacity × h)
    BatchNormCache<S> norm;
  };

  MatrixMap<S> top(Matrix<S>& m) const { return {m.data(), rows_, m.cols()}; }
  MatrixMap<S> layer_input(std::size_t layer) { return layer == 0 ? top(x_) : top(layers_[layer - 1].output); }
  void perturb_input(const Perturbation& perturbation, const Rng& rng);
  void forward_layer(const Network<S>& network, std::size_t layer, double dropout, const Rng& rng);
  void update_statistics(Network<S>& network);

  Index view_;
  Index rows_ = 0;
  bool whitens_;
  bool projects_;  // z is another matrix than a
  Matrix<S> x_;
  std::vector<Layer> layers_;
  Matrix<S> linear_;  // dense output before the last batch norm
  BatchNormCache<S> output_norm_;
  Matrix<S> a_, z_, dz_, coupling_, logits_;
  WhiteningCache whitening_;
  std::array<Matrix<S>, 2> gradient_;  // of a layer's output and of its input, in turn
};

}  // namespace tocca
