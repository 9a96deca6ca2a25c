#include "tocca/train/step.h"

#include "tocca/core/denormals.h"
#include "tocca/ops/dense.h"

namespace tocca {
namespace {

// Up to this many rows a weight matrix is read once for both gradients, and its own goes straight into its update. With
// more, writing it out costs little beside a blocked product (docs/performance.md).
constexpr Index kRowsToFuse = 128;
// Rows of weights longer than this do not stay in cache until their update, and are read for one gradient at a time.
constexpr Index kColumnsToPass = 2048;

// Batches are cut into pieces of so many rows. Every piece packs the weights again, so that pieces are larger where the
// views alone keep two threads busy.
constexpr Index kPieceOfOneView = 256;
constexpr Index kPiece = 1024;

}  // namespace

template <class S>
TrainingStep<S>::TrainingStep(Network<S>& network, const Objective& objective, Index capacity, const Context& context)
    : network_(network),
      objective_(objective),
      context_(context),
      terms_(network.encoders.size()),
      scratch_(network.encoders.size()),
      gradients_(network.parameter_layout),
      first_moments_(network.parameter_layout),
      second_moments_(network.parameter_layout) {
  objective.validate(network.shape);
  for (std::size_t p = 0; p < network.pairs.size(); ++p) pairs_.emplace_back(network, p, capacity);
  for (Index v = 0; v < network.views(); ++v) {
    passes_.emplace_back(network, v, capacity);
    head_gradients_.emplace_back();
    for (const HeadShape& head : network.shape.heads) {
      head_gradients_.back().push_back(
          {Matrix<S>::Zero(network.shape.components, head.outputs), RowVector<S>::Zero(head.outputs), Matrix<S>()});
    }
  }
}

template <class S>
void TrainingStep<S>::set_objective(const Objective& objective) {
  objective.validate(network_.shape);
  objective_ = objective;
}

template <class S>
void TrainingStep<S>::save_optimizer(TensorFile& file) const {
  add_values(file, "optimizer.first_moments", first_moments_.values());
  add_values(file, "optimizer.second_moments", second_moments_.values());
  add_values(file, "optimizer.schedule", Vector<double>{{schedule_.step, schedule_.momentum_product}});
}

template <class S>
void TrainingStep<S>::load_optimizer(const TensorFile& file) {
  read_values(file, "optimizer.first_moments", first_moments_.values());
  read_values(file, "optimizer.second_moments", second_moments_.values());
  Vector<double> schedule(2);
  read_values(file, "optimizer.schedule", schedule);
  schedule_ = {schedule(0), schedule(1)};
}

template <class S>
LossTerms TrainingStep<S>::gradients(const Batch& batch, const RowReader<S>& read, const Rng& rng) {
  return run(batch, read, rng, false);
}

template <class S>
LossTerms TrainingStep<S>::step(const Batch& batch, const RowReader<S>& read, const Rng& rng,
                                const NadamOptions& options) {
  nadam_ = options;
  coefficients_ = schedule_.next(options);
  return run(batch, read, rng, true);
}

template <class S>
LossTerms TrainingStep<S>::run(const Batch& batch, const RowReader<S>& read, const Rng& rng, bool with_update) {
  forward(batch, read, rng);
  // Views without a common space have nothing to agree on.
  const bool distance = network_.shape.shared_head && objective_.agreement == Agreement::l2;
  const Index pairs = distance ? count_pairs(batch.row_of) : 0;
  projections_.clear();
  for (ViewPass<S>& pass : passes_) projections_.push_back(pass.z());
  couple(batch);
  const bool back_together = objective_.task == Task::ranking || uses_cca_layer();
  const Pieces pieces = pieces_of(batch);
  const auto back = [&](std::size_t v) {
    encoder_backward(v, rng, with_update, pieces);
    if (with_update) update_encoder(v);
  };
  if (back_together) {
    each_view([&](std::size_t v) { losses(v, batch, pairs); });
    couple_back();
    each_view(back);
  } else {
    each_view([&](std::size_t v) {
      losses(v, batch, pairs);
      back(v);
    });
  }
  collect_head_gradients();
  // Without a gradient weight decay alone would wear the head away.
  if (with_update && objective_.task == Task::heads) {
    for (const HeadSlots& head : network_.heads) {
      update(head.weight);
      update(head.bias);
    }
  }
  LossTerms sum = coupled_;
  for (const LossTerms& t : terms_) {
    sum.task += t.task;
    sum.agreement += t.agreement;
    sum.decorrelation += t.decorrelation;
    sum.reconstruction += t.reconstruction;
    sum.separation += t.separation;
  }
  return sum;
}

template <class S>
Pieces TrainingStep<S>::pieces_of(const Batch& batch) const {
  const Index rows = network_.views() == 1 ? kPieceOfOneView : kPiece;
  std::size_t most = 0;
  for (const auto& samples : batch.samples) most = std::max(most, samples.size());
  return {&context_, static_cast<Index>(most) >= 2 * rows ? rows : 0};
}

// Views side by side. Threads without a view help with the pieces of one.
template <class S>
void TrainingStep<S>::each_view(FunctionRef<void(std::size_t)> work) {
  context_.parallel(network_.views(), [&](Index view) {
    const FlushDenormals flush;
    work(static_cast<std::size_t>(view));
  });
}

template <class S>
void TrainingStep<S>::forward(const Batch& batch, const RowReader<S>& read, const Rng& rng) {
  const Pieces pieces = pieces_of(batch);
  each_view([&](std::size_t v) {
    const auto& samples = batch.samples[v];
    ViewPass<S>& pass = passes_[v];
    MatrixMap<S> input = pass.input(static_cast<Index>(samples.size()));
    if (!samples.empty()) {
      pieces.over_rows(input.rows(), [&](Index first, Index count) {
        const auto some = std::span(samples).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        read(static_cast<Index>(v), some, input.middleRows(first, count));
      });
    }
    mix(v, batch);
    pass.forward(network_, objective_.perturbation, rng, pieces);
  });
}

// The part of the forward pass that needs both views of a pair. In the order of the pairs, whatever the threads do.
template <class S>
void TrainingStep<S>::couple(const Batch& batch) {
  coupled_ = {};
  if (pairs_.empty()) return;
  const FlushDenormals flush;
  for (ViewPass<S>& pass : passes_) {
    if (pass.rows() > 0) pass.coupling().setZero();
  }
  const double share = 1.0 / static_cast<double>(pairs_.size());
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    ViewPass<S>& u = passes_[network_.pairs[p].u];
    ViewPass<S>& v = passes_[network_.pairs[p].v];
    pairs_[p].match(batch.row_of, u, v);
    if (objective_.agreement == Agreement::trace_norm) {
      const double weight = share * objective_.agreement_weight;
      coupled_.agreement += share * pairs_[p].trace_norm(network_, weight, u, v);
    }
    if (uses_cca_layer()) pairs_[p].cca_forward(network_, objective_.cca_basis, u, v);
  }
}

template <class S>
void TrainingStep<S>::couple_back() {
  const FlushDenormals flush;
  const double share = 1.0 / static_cast<double>(pairs_.size());
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    ViewPass<S>& u = passes_[network_.pairs[p].u];
    ViewPass<S>& v = passes_[network_.pairs[p].v];
    if (objective_.task == Task::ranking) coupled_.task += share * pairs_[p].ranking(objective_.margin, share, u, v);
    if (uses_cca_layer()) pairs_[p].cca_backward(network_, u, v);
  }
}

template <class S>
void TrainingStep<S>::mix(std::size_t v, const Batch& batch) {
  if (batch.partner.empty() || batch.partner[v].empty()) return;
  MatrixMap<S> x = passes_[v].input(static_cast<Index>(batch.samples[v].size()));
  Workspace& work = scratch_[v].work;
  const Workspace::Frame frame(work);
  MatrixMap<S> before = work.matrix<S>(x.rows(), x.cols());
  before = x;
  const S share = static_cast<S>(batch.own_share);
  for (Index i = 0; i < x.rows(); ++i) {
    x.row(i) = share * before.row(i) + (1 - share) * before.row(batch.partner[v][static_cast<std::size_t>(i)]);
  }
}

// Loss of a head's outputs, which become its gradient. The loss of a mixed row is the mean of those with either's
// targets, weighted by their shares.
template <class S>
double TrainingStep<S>::loss_of_head(std::size_t v, std::size_t h, const Batch& batch) {
  const HeadShape& head = network_.shape.heads[h];
  static const HeadLossOptions kPlain;
  const HeadLossOptions& options = objective_.head_options.empty() ? kPlain : objective_.head_options[h];
  const KnownTargets own = batch.known(v, head.target);
  const MatrixMap<S> outputs = passes_[v].outputs(h);
  Workspace& work = scratch_[v].work;
  if (batch.partner.empty()) return tocca::head_loss<S>(head.kind, own, options, outputs, work);
  const Workspace::Frame frame(work);
  MatrixMap<S> other_gradient = work.matrix<S>(outputs.rows(), outputs.cols());
  other_gradient = outputs;
  const KnownTargets mixed = own.select(batch.partner[v], work);
  const double share = batch.own_share;
  const double loss = tocca::head_loss<S>(head.kind, own, options, outputs, work);
  const double other = tocca::head_loss<S>(head.kind, mixed, options, other_gradient, work);
  passes_[v].outputs(h) = static_cast<S>(share) * outputs + static_cast<S>(1 - share) * other_gradient;
  return share * loss + (1 - share) * other;
}

template <class S>
void TrainingStep<S>::head_losses(std::size_t v, const Batch& batch) {
  ViewPass<S>& pass = passes_[v];
  const auto& p = network_.parameters;
  for (std::size_t h = 0; h < network_.shape.heads.size(); ++h) {
    const HeadSlots& head = network_.head(h, static_cast<Index>(v));
    dense_forward<S>(pass.z(), p[head.weight], p[head.bias].row(0), pass.outputs(h));
    const double weight = objective_.head_weight(h);
    terms_[v].task += weight * loss_of_head(v, h, batch);
    if (weight != 1) pass.outputs(h) *= static_cast<S>(weight);
    dense_backward_weight<S>(pass.z(), pass.outputs(h), head_gradients_[v][h].weight);
    dense_backward_bias<S>(pass.outputs(h), head_gradients_[v][h].bias, head_gradients_[v][h].scratch);
    dense_backward_input<S>(pass.outputs(h), p[head.weight], h == 0 ? pass.dz() : pass.head_dz());
    if (h > 0) pass.dz() += pass.head_dz();
  }
}

template <class S>
void TrainingStep<S>::clear_gradients(std::size_t v) {
  for (HeadGradient& head : head_gradients_[v]) {
    head.weight.setZero();
    head.bias.setZero();
  }
  const EncoderSlots& e = network_.encoders[v];
  for (const HiddenSlots& h : e.hidden) {
    for (const Slot* slot : {&h.weight, &h.bias, &h.scale, &h.shift}) gradients_[*slot].setZero();
  }
  gradients_[e.output_weight].setZero();
  if (!network_.shape.reconstructs) return;
  for (const HiddenSlots& h : e.decoder) {
    for (const Slot* slot : {&h.weight, &h.bias, &h.scale, &h.shift}) gradients_[*slot].setZero();
  }
  for (const Slot* slot : {&e.decoder_weight, &e.decoder_bias}) gradients_[*slot].setZero();
}

template <class S>
void TrainingStep<S>::product_backward(std::size_t v, const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy,
                                       MatrixMap<S> dx, bool with_update, const Pieces& pieces) {
  const bool fuses = with_update && x.rows() <= kRowsToFuse;
  const bool passes_once = fuses && dy.cols() <= kColumnsToPass;
  if (dx.cols() > 0 && !passes_once) dense_backward_input<S>(dy, network_.parameters[weight], dx, pieces);
  if (!fuses) {
    pieces.over_columns(x.cols(), [&](Index first, Index count) {
      dense_backward_weight<S>(x.middleCols(first, count), dy, gradients_[weight].middleRows(first, count));
      if (with_update) update(weight, first, count);
    });
    return;
  }
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  nadam_update(nadam_step(weight), arrays(weight),
               OuterProduct<S>{{x.data(), size(x.cols())},
                               {dy.data(), size(dy.cols())},
                               size(x.rows()),
                               size(x.cols()),
                               size(dy.cols()),
                               {passes_once && dx.cols() > 0 ? dx.data() : nullptr, size(dx.cols())}},
               scratch_[v].outer, pieces);
}

// Every loss of one view with its gradient with respect to Z; those of A alone come on the way back.
template <class S>
void TrainingStep<S>::losses(std::size_t v, const Batch& batch, Index pairs) {
  ViewPass<S>& pass = passes_[v];
  terms_[v] = {};
  if (pass.rows() == 0) {
    clear_gradients(v);
    return;
  }
  if (objective_.task == Task::heads) {
    head_losses(v, batch);
  } else {
    pass.dz().setZero();
  }
  if (objective_.task == Task::lda) {
    const LdaLossOptions options{.ridge = network_.shape.whitening.epsilon};
    terms_[v].task = lda_loss<S>(pass.z(), batch.labels[v].codes, options, 1, pass.dz(), scratch_[v].lda);
  }
  if (pairs == 0) return;
  terms_[v].agreement = l2_distance<S>(projections_, batch.row_of, v, pairs, objective_.agreement_weight, pass.dz());
}

template <class S>
void TrainingStep<S>::encoder_backward(std::size_t v, const Rng& rng, bool with_update, const Pieces& pieces) {
  ViewPass<S>& pass = passes_[v];
  if (pass.rows() == 0) return;
  pass.backward_projection();
  if (!pairs_.empty()) pass.dz() += pass.coupling();
  if (network_.shape.decorrelated) {
    const EncoderSlots& e = network_.encoders[v];
    auto& s = network_.statistics;
    terms_[v].decorrelation = soft_decorrelation<S>(pass.a(), network_.shape.momentum, objective_.decorrelation_weight,
                                                    s[e.decorrelation_cross], s[e.decorrelation_normaliser],
                                                    scratch_[v].decorrelation, pass.dz());
  }
  const double dropout = objective_.perturbation.dropout;
  const auto take = [&](const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy, MatrixMap<S> dx) {
    product_backward(v, weight, x, dy, dx, with_update, pieces);
  };
  if (network_.shape.reconstructs) {
    terms_[v].reconstruction =
        pass.reconstruction(network_, objective_.reconstruction_weight, dropout, rng, gradients_, take, pieces);
  }
  if (network_.shape.private_components > 0) terms_[v].separation = pass.separation(objective_.private_weight);
  pass.backward_encoder(network_, dropout, rng, gradients_, take, pieces);
}

template <class S>
void TrainingStep<S>::collect_head_gradients() {
  for (std::size_t v = 0; v < passes_.size(); ++v) {
    for (std::size_t h = 0; h < network_.shape.heads.size(); ++h) {
      const HeadSlots& head = network_.head(h, static_cast<Index>(v));
      const HeadGradient& gradient = head_gradients_[v][h];
      if (v == 0 || !network_.shape.shared_head) {
        gradients_[head.weight] = gradient.weight;
        gradients_[head.bias] = gradient.bias;
      } else {
        gradients_[head.weight] += gradient.weight;
        gradients_[head.bias] += gradient.bias;
      }
    }
  }
}

template <class S>
NadamStep TrainingStep<S>::nadam_step(const Slot& slot) const {
  return {nadam_, coefficients_, slot.decays ? 2 * objective_.weight_decay : 0};
}

template <class S>
NadamArrays<S> TrainingStep<S>::arrays(const Slot& slot) {
  const auto at = [&](Buffer<S>& buffer) { return buffer.values().data() + slot.offset; };
  return {at(network_.parameters), at(first_moments_), at(second_moments_)};
}

template <class S>
void TrainingStep<S>::update(const Slot& slot) {
  update(slot, 0, slot.rows);
}

template <class S>
void TrainingStep<S>::update(const Slot& slot, Index first, Index rows) {
  const Index at = first * slot.columns;
  const NadamArrays<S> all = arrays(slot);
  const S* const gradient = gradients_.values().data() + slot.offset + at;
  nadam_update(nadam_step(slot), NadamArrays<S>{all.parameters + at, all.first + at, all.second + at},
               std::span(gradient, static_cast<std::size_t>(rows * slot.columns)));
}

// What the way back has not updated yet: everything of a view that was left out, otherwise all but the weights.
template <class S>
void TrainingStep<S>::update_encoder(std::size_t v) {
  const EncoderSlots& e = network_.encoders[v];
  const bool left_out = passes_[v].rows() == 0;
  const auto update_hidden = [&](const std::vector<HiddenSlots>& layers) {
    for (const HiddenSlots& h : layers) {
      for (const Slot* slot : {&h.bias, &h.scale, &h.shift}) update(*slot);
      if (left_out) update(h.weight);
    }
  };
  update_hidden(e.hidden);
  if (left_out) update(e.output_weight);
  if (!network_.shape.reconstructs) return;
  update_hidden(e.decoder);
  update(e.decoder_bias);
  if (left_out) update(e.decoder_weight);
}

template class TrainingStep<float>;
template class TrainingStep<double>;

}  // namespace tocca
