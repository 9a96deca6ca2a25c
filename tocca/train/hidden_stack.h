/// Hidden layers one after another, [dense → ReLU → batch norm → dropout] each, with every buffer they need. Large
/// batches lie in panels from the input on (core/panels.h).
#pragma once

#include <vector>

#include "tocca/core/function_ref.h"
#include "tocca/core/panels.h"
#include "tocca/core/rng.h"
#include "tocca/model/network.h"
#include "tocca/ops/batch_norm.h"
#include "tocca/ops/dense.h"

namespace tocca {

/// The way back through y = x W, x (m × in), dy (m × out): dx (m × in; without columns where nobody wants it) ← dy Wᵀ,
/// and the weight's gradient xᵀ dy is taken or used up. Nothing needs the weight any more. `done` is called for dx.
template <class S>
using ProductBackward =
    FunctionRef<void(const Slot& weight, PanelMap<S> x, PanelMap<S> dy, PanelMap<S> dx, ColumnsDone done)>;

template <class S>
class HiddenStack {
 public:
  /// For batches of up to `capacity` rows, in memory that outlives it. `name` tells the random numbers of dropout from
  /// those of other stacks.
  HiddenStack(const std::vector<HiddenSlots>& slots, Index capacity, std::string_view name, Workspace& memory);

  /// Where the product of the input with the first weights goes (rows × width), for who makes it before forward().
  [[nodiscard]] PanelMap<S> first_product(Index rows);
  /// From `input` (m × in) to what output() returns, in training mode. `has_product`: the first product is
  /// there.
  void forward(const Network<S>& network, PanelMap<S> input, double dropout, const Rng& rng, Workspace& work,
               const Pieces& pieces, bool has_product = false);
  /// (m × width of the last layer); without layers the input itself.
  [[nodiscard]] PanelMap<S> output();
  /// Running statistics of batch norm move on by the batch.
  void update_statistics(Network<S>& network) const;

  /// Where the gradient with respect to output() goes (m × width), with layers.
  [[nodiscard]] PanelMap<S> output_gradient();
  /// Columns of output_gradient() are there, and go back to the last product.
  void output_gradient_done(const Network<S>& network, double dropout, const Rng& rng, Buffer<S>& gradients,
                            Index first, Index count) {
    back_to_product(layers_.size() - 1, top(gradient_), network, dropout, rng, gradients, first, count);
  }
  /// Once all of them are: to the gradients of the parameters; weights are left to `product_backward`. The gradient
  /// with respect to the input is written to `input_gradient` unless that has no columns.
  void backward(const Network<S>& network, double dropout, const Rng& rng, Buffer<S>& gradients,
                ProductBackward<S> product_backward, PanelMap<S> input_gradient);

  [[nodiscard]] bool empty() const { return layers_.empty(); }

 private:
  struct Layer {
    BatchPanels<S> activated;  // after ReLU (m × h)
    BatchPanels<S> output;     // after batch norm and dropout (m × h)
    BatchNormCache<S> norm;
  };

  PanelMap<S> top(const BatchPanels<S>& m) const { return m.top(rows_); }
  PanelMap<S> input_of(std::size_t layer) { return layer == 0 ? input_ : top(layers_[layer - 1].output); }
  // Columns of the gradient of a layer's output become that of its product.
  void back_to_product(std::size_t layer, PanelMap<S> gradient, const Network<S>& network, double dropout,
                       const Rng& rng, Buffer<S>& gradients, Index first, Index count);
  [[nodiscard]] std::uint64_t dropout_key(const Rng& rng, std::size_t layer) const;

  std::vector<HiddenSlots> slots_;
  std::string name_;
  Index rows_ = 0;
  PanelMap<S> input_;
  std::vector<Layer> layers_;
  BatchPanels<S> gradient_, other_gradient_;  // of a layer's output and of its input, in turn
};

}  // namespace tocca
