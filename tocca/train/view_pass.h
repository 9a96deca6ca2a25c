/// One view's way through its encoder and back, with every buffer it needs, allocated once.
#pragma once

#include <optional>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/ops/batch_norm.h"
#include "tocca/ops/whitening.h"
#include "tocca/train/hidden_stack.h"

namespace tocca {

/// What training does to a view at random, and inference does not.
struct Perturbation {
  double dropout = 0;        ///< rate after each hidden layer
  double input_dropout = 0;  ///< rate of the standardised columns
  double input_noise = 0;    ///< standard deviation of normal noise added to the standardised columns

  [[nodiscard]] bool of_inputs() const { return input_dropout > 0 || input_noise > 0; }
};

template <class S>
class ViewPass {
 public:
  /// For batches of up to `capacity` rows of that view.
  ViewPass(const Network<S>& network, Index view, Index capacity);

  /// Where the caller puts the batch's standardised rows (m × d_v). m = 0: the view is left out of this step.
  MatrixMap<S> begin(Index rows);
  [[nodiscard]] MatrixMap<S> input() { return top(x_); }
  /// Disturbs the rows in input(); what a decoder is to find again is kept before. Comes before forward().
  void perturb(const Perturbation& perturbation, const Rng& rng);
  /// Columns of input() as layers read them, after they have been brought there: of large batches into panels.
  PanelMap<S> arrange(Index first, Index count);
  /// All columns once they are there.
  [[nodiscard]] PanelMap<S> arranged() { return place(top(x_), x_panels_); }
  /// Where x · W of the first hidden layer goes (m × h), for who makes it before forward().
  [[nodiscard]] PanelMap<S> first_product() { return hidden_.first_product(rows_); }
  /// x → A → Z on the batch, in training mode; the network's running statistics of this view move on.
  /// `has_product`: all columns are arranged and the first product is there.
  void forward(Network<S>& network, double dropout, const Rng& rng, const Pieces& pieces = {},
               bool has_product = false);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] MatrixMap<S> a() { return top(a_); }                        ///< before whitening (m × d_o)
  [[nodiscard]] MatrixMap<S> z() { return projects_ ? top(z_) : top(a_); }  ///< in the shared space (m × d_o)
  [[nodiscard]] MatrixMap<S> dz() { return top(dz_); }                      ///< ∂L/∂Z, then ∂L/∂A (m × d_o)
  [[nodiscard]] MatrixMap<S> coupling() { return top(coupling_); }  ///< ∂/∂A of what ties pairs of views (m × d_o)
  [[nodiscard]] MatrixMap<S> outputs(std::size_t head) { return top(outputs_[head]); }  ///< (m × outputs of the head)
  [[nodiscard]] MatrixMap<S> head_dz() { return top(head_dz_); }  ///< ∂/∂Z of a head after the first (m × d_o)

  /// ∂L/∂Z in dz() becomes ∂L/∂A; nothing to do without whitening.
  void backward_projection();
  /// X̂ from [A, P] and the mean of its squared distances to the columns as they were before perturbation; weight · its
  /// gradient with respect to [A, P] is kept for backward_encoder.
  double reconstruction(Network<S>& network, double weight, double dropout, const Rng& rng, Buffer<S>& gradients,
                        ProductBackward<S> product_backward, const Pieces& pieces = {});
  /// Mean of the squared covariances of the columns of A with those of P, which share nothing where it is 0; weight ·
  /// its gradient is kept likewise.
  double separation(double weight);
  /// From ∂L/∂A in dz() to the gradients of this view's parameters; weights are left to `product_backward`.
  void backward_encoder(const Network<S>& network, double dropout, const Rng& rng, Buffer<S>& gradients,
                        ProductBackward<S> product_backward, const Pieces& pieces = {});

 private:
  MatrixMap<S> top(const BatchMatrix<S>& m) const { return m.top(rows_); }
  PanelMap<S> top(const BatchPanels<S>& m) const { return m.top(rows_); }
  // Where layers read and write what others have row by row: there, or for large batches in panels.
  PanelMap<S> place(MatrixMap<S> rows, const BatchPanels<S>& panels) const {
    return lies_in_panels(rows_) ? top(panels) : PanelMap<S>(rows);
  }
  // That place, with the rows in it.
  PanelMap<S> brought(MatrixMap<S> rows, const BatchPanels<S>& panels, const Pieces& pieces) const;
  [[nodiscard]] bool has_private() const { return outputs_width_ > a_.cols(); }
  MatrixMap<S> encoded() { return has_private() ? top(encoded_) : top(a_); }  // [A, P]
  void update_statistics(Network<S>& network);

  Index view_;
  Index rows_ = 0;
  bool whitens_;
  bool projects_;     // z is another matrix than a
  Workspace memory_;  // of every BatchMatrix and BatchPanels here and in the stacks
  BatchMatrix<S> x_;
  BatchPanels<S> x_panels_;  // of large batches
  BatchMatrix<S> clean_;     // as x before perturbation, to reconstruct
  HiddenStack<S> hidden_;
  BatchPanels<S> linear_;           // dense output before the last batch norm
  BatchPanels<S> linear_gradient_;  // of large batches
  BatchNormCache<S> output_norm_;
  BatchMatrix<S> a_, z_, dz_, coupling_, head_dz_;
  std::vector<BatchMatrix<S>> outputs_;
  WhiteningCache whitening_;
  Index outputs_width_;
  BatchMatrix<S> encoded_;           // [A, P] where there is a P
  BatchMatrix<S> encoded_gradient_;  // of what reads [A, P]
  std::optional<HiddenStack<S>> decoder_;
  BatchMatrix<S> decoded_;                          // X̂, then its gradient
  BatchPanels<S> encoded_panels_, decoded_panels_;  // of large batches: the same
  Workspace work_;
};

}  // namespace tocca
