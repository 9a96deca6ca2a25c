#include "tocca/train/hidden_stack.h"

#include <utility>

#include "tocca/ops/dropout.h"

namespace tocca {
namespace {

template <class S>
RowRef<S> row(Buffer<S>& buffer, const Slot& slot) {
  return buffer[slot].row(0);
}

}  // namespace

template <class S>
HiddenStack<S>::HiddenStack(const std::vector<HiddenSlots>& slots, Index capacity, std::string_view name,
                            Workspace& memory)
    : slots_(slots), name_(name), layers_(slots.size()) {
  const auto matrix = [&](Index columns) { return BatchPanels<S>(memory, capacity, columns); };
  for (std::size_t l = 0; l < slots.size(); ++l) {
    layers_[l].activated = matrix(slots[l].weight.columns);
    layers_[l].output = matrix(slots[l].weight.columns);
  }
  if (slots.empty()) return;
  gradient_ = matrix(slots.back().weight.columns);
  other_gradient_ = matrix(slots.back().weight.columns);
}

template <class S>
std::uint64_t HiddenStack<S>::dropout_key(const Rng& rng, std::size_t layer) const {
  return rng.split(name_, layer).key();
}

template <class S>
PanelMap<S> HiddenStack<S>::first_product(Index rows) {
  return layers_.front().activated.top(rows);
}

template <class S>
void HiddenStack<S>::forward(const Network<S>& network, PanelMap<S> input, double rate, const Rng& rng, Workspace& work,
                             const Pieces& pieces, bool has_product) {
  rows_ = input.rows();
  input_ = input;
  const auto& p = network.parameters;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const HiddenSlots& slots = slots_[l];
    Layer& layer = layers_[l];
    const PanelMap<S> y = top(layer.activated), out = top(layer.output);
    layer.norm.resize(y.cols());
    const auto finish = [&](Index first, Index count) {
      relu_batch_norm_forward<S>(y, first, count, p[slots.bias].row(0), p[slots.scale].row(0), p[slots.shift].row(0),
                                 layer.norm, out);
      if (rate > 0) dropout<S>(out, first, count, rate, dropout_key(rng, l));
    };
    if (l == 0 && has_product) {
      pieces.over_columns(y.cols(), finish);
    } else {
      dense_forward<S>(input_of(l), p[slots.weight], y, work, pieces, finish);
    }
  }
}

template <class S>
PanelMap<S> HiddenStack<S>::output() {
  return input_of(layers_.size());
}

template <class S>
PanelMap<S> HiddenStack<S>::output_gradient() {
  return top(gradient_);
}

template <class S>
void HiddenStack<S>::update_statistics(Network<S>& network) const {
  const double keep = network.shape.momentum;
  auto& s = network.statistics;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    batch_norm_update<S>(layers_[l].norm, rows_, keep, 1 - keep, s[slots_[l].mean], s[slots_[l].variance]);
  }
}

template <class S>
void HiddenStack<S>::back_to_product(std::size_t l, PanelMap<S> gradient, const Network<S>& network, double rate,
                                     const Rng& rng, Buffer<S>& gradients, Index first, Index count) {
  const HiddenSlots& slots = slots_[l];
  if (rate > 0) dropout<S>(gradient, first, count, rate, dropout_key(rng, l));
  relu_batch_norm_backward<S>(top(layers_[l].activated), first, count, network.parameters[slots.scale].row(0),
                              layers_[l].norm, gradient, row(gradients, slots.scale), row(gradients, slots.shift),
                              row(gradients, slots.bias));
}

template <class S>
void HiddenStack<S>::backward(const Network<S>& network, double rate, const Rng& rng, Buffer<S>& gradients,
                              ProductBackward<S> product_backward, PanelMap<S> input_gradient) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const PanelMap<S> dx = l > 0 ? top(other_gradient_) : input_gradient;
    const auto done = [&](Index first, Index count) {
      if (l > 0) back_to_product(l - 1, dx, network, rate, rng, gradients, first, count);
    };
    product_backward(slots_[l].weight, input_of(l), top(gradient_), dx, done);
    std::swap(gradient_, other_gradient_);
  }
}

template class HiddenStack<float>;
template class HiddenStack<double>;

}  // namespace tocca
