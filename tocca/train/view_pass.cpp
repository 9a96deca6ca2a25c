#include "tocca/train/view_pass.h"

#include "tocca/ops/dense.h"
#include "tocca/ops/dropout.h"
#include "tocca/ops/running.h"

namespace tocca {
namespace {

std::uint64_t dropout_key(const Rng& rng, Index view, std::size_t layer) {
  return rng.split("view", static_cast<std::uint64_t>(view)).split("layer", layer).key();
}

template <class S>
RowRef<S> row(Buffer<S>& buffer, const Slot& slot) {
  return buffer[slot].row(0);
}

}  // namespace

template <class S>
ViewPass<S>::ViewPass(const Network<S>& network, Index view, Index capacity)
    : view_(view),
      whitens_(network.shape.projection == Projection::whiten),
      projects_(network.shape.projection != Projection::identity) {
  const NetworkShape& shape = network.shape;
  x_.resize(capacity, shape.inputs[static_cast<std::size_t>(view)]);
  layers_.resize(static_cast<std::size_t>(shape.hidden_layers));
  for (Layer& layer : layers_) {
    layer.activated.resize(capacity, shape.hidden_size);
    layer.output.resize(capacity, shape.hidden_size);
  }
  for (Matrix<S>* m : {&linear_, &a_, &dz_}) m->resize(capacity, shape.components);
  if (projects_) z_.resize(capacity, shape.components);
  if (shape.keeps_pairs()) coupling_.resize(capacity, shape.components);
  logits_.resize(capacity, shape.classes);
  if (!layers_.empty()) {
    for (auto& g : gradient_) g.resize(capacity, shape.hidden_size);
  }
}

template <class S>
MatrixMap<S> ViewPass<S>::input(Index rows) {
  rows_ = rows;
  return top(x_);
}

template <class S>
void ViewPass<S>::forward_layer(const Network<S>& network, std::size_t l, double rate, const Rng& rng) {
  const HiddenSlots& slots = network.encoder(view_).hidden[l];
  Layer& layer = layers_[l];
  const auto& p = network.parameters;
  dense_forward<S>(layer_input(l), p[slots.weight], p[slots.bias].row(0), top(layer.activated));
  relu_forward<S>(top(layer.activated));
  batch_norm_forward<S>(top(layer.activated), p[slots.scale].row(0), p[slots.shift].row(0), layer.norm,
                        top(layer.output));
  if (rate > 0) dropout<S>(top(layer.output), rate, dropout_key(rng, view_, l));
}

template <class S>
void ViewPass<S>::perturb_input(const Perturbation& perturbation, const Rng& rng) {
  if (perturbation.input_noise > 0) {
    Rng noise = rng.split("view", static_cast<std::uint64_t>(view_)).split("input noise");
    MatrixMap<S> x = top(x_);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] += static_cast<S>(perturbation.input_noise * noise.normal());
  }
  if (perturbation.input_dropout > 0) {
    const Rng which = rng.split("view", static_cast<std::uint64_t>(view_)).split("input dropout");
    dropout<S>(top(x_), perturbation.input_dropout, which.key());
  }
}

template <class S>
void ViewPass<S>::forward(Network<S>& network, const Perturbation& perturbation, const Rng& rng) {
  if (rows_ == 0) return;
  perturb_input(perturbation, rng);
  for (std::size_t l = 0; l < layers_.size(); ++l) forward_layer(network, l, perturbation.dropout, rng);
  const EncoderSlots& e = network.encoder(view_);
  const RowVector<S> none;
  dense_forward<S>(layer_input(layers_.size()), network.parameters[e.output_weight], none, top(linear_));
  batch_norm_forward<S>(top(linear_), none, none, output_norm_, top(a_));
  update_statistics(network);
  if (!whitens_) return;
  WhiteningStatistics statistics{network.statistics[e.whitening_mean], network.statistics[e.whitening_covariance],
                                 network.statistics[e.whitening_centre], network.statistics[e.whitening_transform]};
  WhiteningOptions options = network.shape.whitening;
  options.momentum = network.shape.momentum;
  whitening_forward<S>(top(a_), options, network.statistics[e.batches](0, 0), statistics, whitening_, top(z_));
}

template <class S>
void ViewPass<S>::update_statistics(Network<S>& network) {
  const EncoderSlots& e = network.encoder(view_);
  auto& s = network.statistics;
  s[e.batches](0, 0) += 1;
  const double keep = network.shape.momentum;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    batch_norm_update<S>(layers_[l].norm, rows_, keep, 1 - keep, s[e.hidden[l].mean], s[e.hidden[l].variance]);
  }
  batch_norm_update<S>(output_norm_, rows_, keep, 1 - keep, s[e.output_mean], s[e.output_variance]);
}

template <class S>
void ViewPass<S>::backward_projection() {
  if (whitens_ && rows_ > 0) whitening_backward<S>(whitening_, dz());
}

template <class S>
void ViewPass<S>::backward_encoder(const Network<S>& network, double rate, const Rng& rng, Buffer<S>& gradients,
                                   const WeightGradient& weight_gradient) {
  const EncoderSlots& e = network.encoder(view_);
  const auto& p = network.parameters;
  RowVector<S> none;
  batch_norm_backward<S>(top(linear_), none, output_norm_, dz(), none, none);
  if (!layers_.empty()) dense_backward_input<S>(dz(), p[e.output_weight], top(gradient_[0]));
  weight_gradient(e.output_weight, layer_input(layers_.size()), dz());
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const HiddenSlots& slots = e.hidden[l];
    MatrixMap<S> d = top(gradient_[0]);
    if (rate > 0) dropout<S>(d, rate, dropout_key(rng, view_, l));
    relu_batch_norm_backward<S>(top(layers_[l].activated), p[slots.scale].row(0), layers_[l].norm, d,
                                row(gradients, slots.scale), row(gradients, slots.shift));
    dense_backward_bias<S>(d, row(gradients, slots.bias));
    if (l > 0) dense_backward_input<S>(d, p[slots.weight], top(gradient_[1]));
    weight_gradient(slots.weight, layer_input(l), d);
    gradient_[0].swap(gradient_[1]);
  }
}

template class ViewPass<float>;
template class ViewPass<double>;

}  // namespace tocca
