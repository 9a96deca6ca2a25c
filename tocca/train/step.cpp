#include "tocca/train/step.h"

#include "tocca/core/denormals.h"
#include "tocca/core/error.h"
#include "tocca/ops/decorrelation.h"
#include "tocca/ops/dense.h"
#include "tocca/ops/lda_loss.h"
#include "tocca/ops/softmax.h"

namespace tocca {
namespace {

// Up to this many rows the gradient of a weight matrix goes straight into its update. At 32 rows and more writing it
// out with a blocked product was measured to be faster (docs/results.md).
constexpr Index kRowsToFuse = 16;

}  // namespace

void Objective::validate(const NetworkShape& shape) const {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw InputError("objective", what);
  };
  const bool two_views = shape.inputs.size() >= 2;
  require(task != Task::softmax || shape.classes > 0, "task softmax: got a network without a head, need classes");
  require(agreement != Agreement::trace_norm || (two_views && shape.keeps_pairs()),
          "agreement trace norm: got a network that keeps no pairs, need two views and `paired`");
  require(task != Task::ranking || (two_views && shape.keeps_pairs()),
          "task ranking: got a network that keeps no pairs, need two views and `paired`");
  require(!skip_cca_layer || (task != Task::softmax && task != Task::ranking && agreement != Agreement::l2),
          "skipped CCA layer: got a loss of Z, need losses of A alone");
}

template <class S>
TrainingStep<S>::TrainingStep(Network<S>& network, const Objective& objective, Index capacity, const Context& context)
    : network_(network),
      objective_(objective),
      context_(context),
      terms_(network.encoders.size()),
      gradients_(network.parameter_layout),
      first_moments_(network.parameter_layout),
      second_moments_(network.parameter_layout) {
  objective.validate(network.shape);
  for (std::size_t p = 0; p < network.pairs.size(); ++p) pairs_.emplace_back(network, p, capacity);
  for (Index v = 0; v < network.views(); ++v) {
    passes_.emplace_back(network, v, capacity);
    head_gradients_.push_back(
        {Matrix<S>(network.shape.components, network.shape.classes), RowVector<S>(network.shape.classes)});
  }
}

template <class S>
void TrainingStep<S>::set_objective(const Objective& objective) {
  objective.validate(network_.shape);
  objective_ = objective;
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
  couple(batch);
  const bool back_together = objective_.task == Task::ranking || uses_cca_layer();
  const auto each_view = [&](const auto& work) {
    context_.parallel(network_.views(), [&](Index view) {
      const FlushDenormals flush;
      work(static_cast<std::size_t>(view));
    });
  };
  const auto back = [&](std::size_t v) {
    encoder_backward(v, batch, rng, with_update);
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
  if (with_update && objective_.task == Task::softmax) {
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
  }
  return sum;
}

template <class S>
void TrainingStep<S>::forward(const Batch& batch, const RowReader<S>& read, const Rng& rng) {
  context_.parallel(network_.views(), [&](Index view) {
    const FlushDenormals flush;
    const auto& samples = batch.samples[static_cast<std::size_t>(view)];
    ViewPass<S>& pass = passes_[static_cast<std::size_t>(view)];
    const MatrixMap<S> input = pass.input(static_cast<Index>(samples.size()));
    if (!samples.empty()) read(view, samples, input);
    pass.forward(network_, objective_.perturbation, rng);
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
    if (uses_cca_layer()) pairs_[p].cca_forward(network_, u, v);
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
void TrainingStep<S>::head_loss(std::size_t v, const Batch& batch) {
  ViewPass<S>& pass = passes_[v];
  const HeadSlots& head = network_.head(static_cast<Index>(v));
  const auto& p = network_.parameters;
  dense_forward<S>(pass.z(), p[head.weight], p[head.bias].row(0), pass.logits());
  terms_[v].task = softmax_cross_entropy<S>(batch.labels[v], pass.logits());
  dense_backward_weight<S>(pass.z(), pass.logits(), head_gradients_[v].weight);
  dense_backward_bias<S>(pass.logits(), head_gradients_[v].bias);
  dense_backward_input<S>(pass.logits(), p[head.weight], pass.dz());
}

template <class S>
void TrainingStep<S>::clear_gradients(std::size_t v) {
  head_gradients_[v].weight.setZero();
  head_gradients_[v].bias.setZero();
  const EncoderSlots& e = network_.encoders[v];
  for (const HiddenSlots& h : e.hidden) {
    for (const Slot* slot : {&h.weight, &h.bias, &h.scale, &h.shift}) gradients_[*slot].setZero();
  }
  gradients_[e.output_weight].setZero();
}

template <class S>
void TrainingStep<S>::weight_gradient(const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy, bool with_update) {
  if (!with_update || x.rows() > kRowsToFuse) {
    dense_backward_weight<S>(x, dy, gradients_[weight]);
    if (with_update) update(weight);
    return;
  }
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  nadam_update(nadam_step(weight), arrays(weight),
               OuterProduct<S>{x.data(), size(x.cols()), dy.data(), size(dy.cols()), size(x.rows()), size(x.cols()),
                               size(dy.cols())});
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
  if (objective_.task == Task::softmax) {
    head_loss(v, batch);
  } else {
    head_gradients_[v].weight.setZero();
    head_gradients_[v].bias.setZero();
    pass.dz().setZero();
  }
  if (pairs == 0) return;
  std::vector<MatrixMap<S>> z;
  for (ViewPass<S>& other : passes_) z.push_back(other.z());
  terms_[v].agreement = l2_distance<S>(z, batch.row_of, v, pairs, objective_.agreement_weight, pass.dz());
}

template <class S>
void TrainingStep<S>::encoder_backward(std::size_t v, const Batch& batch, const Rng& rng, bool with_update) {
  ViewPass<S>& pass = passes_[v];
  if (pass.rows() == 0) return;
  pass.backward_projection();
  if (!pairs_.empty()) pass.dz() += pass.coupling();
  if (objective_.task == Task::lda) {
    terms_[v].task = lda_loss<S>(pass.a(), batch.labels[v], {.ridge = network_.shape.whitening.epsilon}, 1, pass.dz());
  }
  if (network_.shape.decorrelated) {
    const EncoderSlots& e = network_.encoders[v];
    auto& s = network_.statistics;
    terms_[v].decorrelation = soft_decorrelation<S>(pass.a(), network_.shape.momentum, objective_.decorrelation_weight,
                                                    s[e.decorrelation_cross], s[e.decorrelation_normaliser], pass.dz());
  }
  pass.backward_encoder(
      network_, objective_.perturbation.dropout, rng, gradients_,
      [&](const Slot& weight, MatrixMap<S> x, MatrixMap<S> dy) { weight_gradient(weight, x, dy, with_update); });
}

template <class S>
void TrainingStep<S>::collect_head_gradients() {
  if (!network_.has_head()) return;
  for (std::size_t v = 0; v < passes_.size(); ++v) {
    const HeadSlots& head = network_.head(static_cast<Index>(v));
    if (v == 0 || !network_.shape.shared_head) {
      gradients_[head.weight] = head_gradients_[v].weight;
      gradients_[head.bias] = head_gradients_[v].bias;
    } else {
      gradients_[head.weight] += head_gradients_[v].weight;
      gradients_[head.bias] += head_gradients_[v].bias;
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
  const S* const gradient = gradients_.values().data() + slot.offset;
  nadam_update(nadam_step(slot), arrays(slot), std::span(gradient, static_cast<std::size_t>(slot.size())));
}

// What the way back has not updated yet: everything of a view that was left out, otherwise all but the weights.
template <class S>
void TrainingStep<S>::update_encoder(std::size_t v) {
  const EncoderSlots& e = network_.encoders[v];
  const bool left_out = passes_[v].rows() == 0;
  for (const HiddenSlots& h : e.hidden) {
    for (const Slot* slot : {&h.bias, &h.scale, &h.shift}) update(*slot);
    if (left_out) update(h.weight);
  }
  if (left_out) update(e.output_weight);
}

template class TrainingStep<float>;
template class TrainingStep<double>;

}  // namespace tocca
