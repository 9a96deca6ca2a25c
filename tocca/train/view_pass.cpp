#include "tocca/train/view_pass.h"

#include "tocca/linalg/blas.h"
#include "tocca/ops/dense.h"
#include "tocca/ops/dropout.h"
#include "tocca/ops/running.h"

namespace tocca {
namespace {

Rng view_stream(const Rng& rng, Index view) { return rng.split("view", static_cast<std::uint64_t>(view)); }

template <class S>
RowRef<S> row(Buffer<S>& buffer, const Slot& slot) {
  return buffer[slot].row(0);
}

/// A view's activations and their gradients: most of what its pass needs.
template <class S>
Workspace memory_for(const NetworkShape& shape, Index view, Index capacity) {
  const Index inputs = shape.inputs[static_cast<std::size_t>(view)];
  const auto room = [&](Index columns) { return BatchPanels<S>::room(capacity, columns); };
  const Index panels = lies_in_panels(capacity) ? room(inputs) : 0;
  const Index numbers = capacity * inputs + panels + 2 * (shape.hidden_layers + 1) * room(shape.hidden_size);
  Workspace memory;
  memory.reserve(static_cast<std::size_t>(numbers) * sizeof(S));
  return memory;
}

}  // namespace

template <class S>
ViewPass<S>::ViewPass(const Network<S>& network, Index view, Index capacity)
    : view_(view),
      whitens_(network.shape.projection == Projection::whiten),
      projects_(network.shape.projection != Projection::identity),
      memory_(memory_for<S>(network.shape, view, capacity)),
      hidden_(network.encoder(view).hidden, capacity, "layer", memory_),
      outputs_width_(network.shape.encoder_outputs()) {
  const NetworkShape& shape = network.shape;
  const auto matrix = [&](Index columns) { return BatchMatrix<S>(memory_, capacity, columns); };
  const auto panels = [&](Index columns) {
    return lies_in_panels(capacity) ? BatchPanels<S>(memory_, capacity, columns) : BatchPanels<S>();
  };
  x_ = matrix(shape.inputs[static_cast<std::size_t>(view)]);
  x_panels_ = panels(x_.cols());
  a_ = matrix(shape.components);
  dz_ = matrix(shape.components);
  linear_ = BatchPanels<S>(memory_, capacity, outputs_width_);
  linear_gradient_ = panels(outputs_width_);
  if (has_private()) encoded_ = matrix(outputs_width_);
  if (has_private() || shape.reconstructs) encoded_gradient_ = matrix(outputs_width_);
  if (shape.reconstructs) {
    clean_ = matrix(x_.cols());
    decoded_ = matrix(x_.cols());
    encoded_panels_ = panels(outputs_width_);
    decoded_panels_ = panels(x_.cols());
    decoder_.emplace(network.encoder(view).decoder, capacity, "decoder layer", memory_);
  }
  if (projects_) z_ = matrix(shape.components);
  if (shape.keeps_pairs()) coupling_ = matrix(shape.components);
  for (const HeadShape& head : shape.heads) outputs_.push_back(matrix(head.outputs));
  if (outputs_.size() > 1) head_dz_ = matrix(shape.components);
}

template <class S>
MatrixMap<S> ViewPass<S>::begin(Index rows) {
  rows_ = rows;
  return top(x_);
}

template <class S>
void ViewPass<S>::perturb(const Perturbation& perturbation, const Rng& rng) {
  if (decoder_) top(clean_) = top(x_);
  if (perturbation.input_noise > 0) {
    Rng noise = view_stream(rng, view_).split("input noise");
    MatrixMap<S> x = top(x_);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] += static_cast<S>(perturbation.input_noise * noise.normal());
  }
  if (perturbation.input_dropout > 0) {
    const Rng which = view_stream(rng, view_).split("input dropout");
    dropout<S>(top(x_), perturbation.input_dropout, which.key());
  }
}

template <class S>
PanelMap<S> ViewPass<S>::brought(MatrixMap<S> rows, const BatchPanels<S>& panels, const Pieces& pieces) const {
  const PanelMap<S> to = place(rows, panels);
  if (to.in_panels()) {
    pieces.over_rows(rows_, [&](Index first, Index count) {
      copy_panels<S>(PanelMap<S>(rows).middle_rows(first, count), to.middle_rows(first, count));
    });
  }
  return to;
}

template <class S>
PanelMap<S> ViewPass<S>::arrange(Index first, Index count) {
  const PanelMap<S> to = arranged().middle_columns(first, count);
  if (to.in_panels()) copy_panels<S>(PanelMap<S>(input()).middle_columns(first, count), to);
  return to;
}

template <class S>
void ViewPass<S>::forward(Network<S>& network, double rate, const Rng& rng, const Pieces& pieces, bool has_product) {
  if (rows_ == 0) return;
  const PanelMap<S> x = has_product ? arranged() : brought(top(x_), x_panels_, pieces);
  hidden_.forward(network, x, rate, view_stream(rng, view_), work_, pieces, has_product);
  const EncoderSlots& e = network.encoder(view_);
  const RowVector<S> none;
  dense_forward<S>(hidden_.output(), network.parameters[e.output_weight], top(linear_), work_, pieces, kNothing);
  batch_norm_forward<S>(top(linear_), none, none, output_norm_, encoded(), pieces);
  if (has_private()) top(a_) = encoded().leftCols(a_.cols());
  if (!encoded_gradient_.empty()) top(encoded_gradient_).setZero();
  update_statistics(network);
  if (!whitens_) return;
  WhiteningStatistics statistics{network.statistics[e.whitening_mean], network.statistics[e.whitening_covariance],
                                 network.statistics[e.whitening_centre], network.statistics[e.whitening_transform]};
  WhiteningOptions options = network.shape.whitening;
  options.momentum = network.shape.momentum;
  whitening_forward<S>(top(a_), options, network.statistics[e.batches](0, 0), statistics, whitening_, top(z_), work_);
}

template <class S>
void ViewPass<S>::update_statistics(Network<S>& network) {
  const EncoderSlots& e = network.encoder(view_);
  auto& s = network.statistics;
  s[e.batches](0, 0) += 1;
  const double keep = network.shape.momentum;
  hidden_.update_statistics(network);
  batch_norm_update<S>(output_norm_, rows_, keep, 1 - keep, s[e.output_mean], s[e.output_variance]);
}

template <class S>
void ViewPass<S>::backward_projection() {
  if (whitens_ && rows_ > 0) whitening_backward<S>(whitening_, dz(), work_);
}

template <class S>
double ViewPass<S>::reconstruction(Network<S>& network, double weight, double rate, const Rng& rng,
                                   Buffer<S>& gradients, ProductBackward<S> product_backward, const Pieces& pieces) {
  const EncoderSlots& e = network.encoder(view_);
  const auto& p = network.parameters;
  decoder_->forward(network, brought(encoded(), encoded_panels_, pieces), rate, view_stream(rng, view_), work_, pieces);
  decoder_->update_statistics(network);
  MatrixMap<S> d = top(decoded_);
  const PanelMap<S> product = place(d, decoded_panels_);
  dense_forward<S>(decoder_->output(), p[e.decoder_weight], product, work_, pieces, kNothing);
  if (product.in_panels()) copy_panels<S>(product, d);
  // The mean of the squares, as mean_squared_error() has it, without a copy of the columns as double.
  d -= top(clean_);
  d.rowwise() += p[e.decoder_bias].row(0);
  const double entries = static_cast<double>(d.size());
  const double loss = static_cast<double>(d.squaredNorm()) / entries;
  d *= static_cast<S>(2 * weight / entries);
  dense_backward_bias<S>(d, row(gradients, e.decoder_bias));
  const Workspace::Frame frame(work_);
  const PanelMap<S> of_encoded = BatchPanels<S>(work_, rows_, outputs_width_).top(rows_);
  const auto done = [&](Index first, Index count) {
    if (!decoder_->empty()) {
      decoder_->output_gradient_done(network, rate, view_stream(rng, view_), gradients, first, count);
    }
  };
  product_backward(e.decoder_weight, decoder_->output(), brought(d, decoded_panels_, pieces),
                   decoder_->empty() ? of_encoded : decoder_->output_gradient(), done);
  decoder_->backward(network, rate, view_stream(rng, view_), gradients, product_backward, of_encoded);
  add_panels<S>(of_encoded, top(encoded_gradient_));
  return loss;
}

template <class S>
double ViewPass<S>::separation(double weight) {
  const Index k = a_.cols();
  const Index p = outputs_width_ - k;
  const Workspace::Frame frame(work_);
  MatrixMap<S> cross = work_.matrix<S>(k, p);
  const MatrixMap<S> both = top(encoded_);
  MatrixMap<S> gradient = top(encoded_gradient_);
  const auto shared = both.leftCols(k), own = both.rightCols(p);
  const S normaliser = static_cast<S>(rows_ - 1);
  multiply_at_b<S>(shared, own, cross, 1 / normaliser);  // both have mean 0 in the batch
  const double entries = static_cast<double>(cross.size());
  const S scale = static_cast<S>(2 * weight / entries) / normaliser;
  multiply_a_bt<S>(own, cross, gradient.leftCols(k), scale, 1);
  multiply<S>(shared, cross, gradient.rightCols(p), scale, 1);
  return static_cast<double>(cross.squaredNorm()) / entries;
}

template <class S>
void ViewPass<S>::backward_encoder(const Network<S>& network, double rate, const Rng& rng, Buffer<S>& gradients,
                                   ProductBackward<S> product_backward, const Pieces& pieces) {
  const EncoderSlots& e = network.encoder(view_);
  RowVector<S> none;
  MatrixMap<S> d = dz();
  if (has_private()) {
    top(encoded_gradient_).leftCols(a_.cols()) += dz();
    new (&d) MatrixMap<S>(top(encoded_gradient_));
  } else if (!encoded_gradient_.empty()) {
    d += top(encoded_gradient_);
  }
  const PanelMap<S> dy = brought(d, linear_gradient_, pieces);
  batch_norm_backward<S>(top(linear_), none, output_norm_, dy, none, none, pieces);
  const auto done = [&](Index first, Index count) {
    hidden_.output_gradient_done(network, rate, view_stream(rng, view_), gradients, first, count);
  };
  product_backward(e.output_weight, hidden_.output(), dy, hidden_.empty() ? PanelMap<S>() : hidden_.output_gradient(),
                   done);
  hidden_.backward(network, rate, view_stream(rng, view_), gradients, product_backward, {});
}

template class ViewPass<float>;
template class ViewPass<double>;

}  // namespace tocca
