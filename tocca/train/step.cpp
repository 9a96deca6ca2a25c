#include "tocca/train/step.h"

#include <algorithm>
#include <cassert>

#include "tocca/core/denormals.h"
#include "tocca/ops/dense.h"

namespace tocca {
namespace {

// In small batches a weight matrix is read once for both gradients, and its own goes straight into its update. With
// more rows, writing it out costs little beside a blocked product (docs/performance.md). Rows of weights longer than
// this do not stay in cache until their update, and are read for one gradient at a time.
constexpr Index kColumnsToPass = 2048;
// Batches are cut into pieces of so many rows. Every piece packs the weights again, so that pieces are larger where the
// views alone keep two threads busy.
constexpr Index kPieceOfOneView = 256;
constexpr Index kPiece = 1024;

std::span<const Index> some(const std::vector<Index>& samples, Index first, Index count) {
  return std::span(samples).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

}  // namespace

template <class S>
TrainingStep<S>::TrainingStep(Network<S>& network, const Objective& objective, Index capacity, const Context& context)
    : network_(network),
      objective_(objective),
      context_(context),
      terms_(network.encoders.size()),
      scratch_(network.encoders.size()),
      input_layers_(network.shape, capacity),
      first_gradients_(network.encoders.size()),
      gradients_(network.parameter_layout),
      optimizer_(network) {
  objective.validate(network.shape);
  for (std::size_t p = 0; p < network.pairs.size(); ++p) pairs_.emplace_back(network, p, capacity);
  // What products in panels pack, and nadam_update of a batch that is fused, most of which is of its widest layer.
  const NetworkShape& shape = network.shape;
  const Index widest = std::max(shape.hidden_layers > 0 ? shape.hidden_size : Index{0}, shape.encoder_outputs());
  const Index threads = Pieces{&context_}.threads();
  const Index fused = (3 * std::min(capacity, kSmallBatch) + 2 * kWeightRows * threads) * widest;
  const Index room = std::max(fused, lies_in_panels(capacity) ? threads * packed_numbers<S>() : Index{0});
  for (Index v = 0; v < network.views(); ++v) {
    scratch_[static_cast<std::size_t>(v)].work.reserve(static_cast<std::size_t>(room) * sizeof(S));
    passes_.emplace_back(network, v, capacity);
    heads_.emplace_back(network.shape, v);
  }
}

template <class S>
void TrainingStep<S>::set_objective(const Objective& objective) {
  objective.validate(network_.shape);
  objective_ = objective;
}

template <class S>
LossTerms TrainingStep<S>::gradients(const Batch& batch, const RowReader<S>& read, const Rng& rng) {
  return run(job_of(batch, read, nullptr, rng, false));
}

template <class S>
LossTerms TrainingStep<S>::step(const Batch& batch, const RowReader<S>& read, const Rng& rng,
                                const NadamOptions& options, const RowChange<S>& change) {
  optimizer_.begin(options, objective_.weight_decay);
  return run(job_of(batch, read, change ? &change : nullptr, rng, true));
}

template <class S>
auto TrainingStep<S>::job_of(const Batch& batch, const RowReader<S>& read, const RowChange<S>* change, const Rng& rng,
                             bool with_update) const -> Job {
  const Pieces pieces = pieces_of(batch);
  return {batch, read, change, rng, pieces, with_update, input_layers_.shared() && !pieces.cut()};
}

template <class S>
LossTerms TrainingStep<S>::run(const Job& job) {
  const Batch& batch = job.batch;
  forward(job);
  // Views without a common space have nothing to agree on.
  const bool distance = network_.shape.shared_head && objective_.agreement == Agreement::l2;
  const Index pairs = distance ? count_pairs(batch.row_of) : 0;
  projections_.clear();
  for (ViewPass<S>& pass : passes_) projections_.push_back(pass.z());
  couple(batch);
  const bool back_together = objective_.task == Task::ranking || uses_cca_layer();
  const auto back = [&](std::size_t v) {
    encoder_backward(v, job);
    if (job.with_update) update_encoder(v);
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
  if (job.shares_inputs) first_weights_backward(job);
  for (const HeadPass<S>& heads : heads_) heads.collect(network_, gradients_);
  // Without a gradient weight decay alone would wear the head away.
  if (job.with_update && objective_.task == Task::heads) {
    for (const HeadSlots& head : network_.heads) {
      optimizer_.update(head.weight, gradients_);
      optimizer_.update(head.bias, gradients_);
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
void TrainingStep<S>::forward(const Job& job) {
  for (std::size_t v = 0; v < passes_.size(); ++v) passes_[v].begin(static_cast<Index>(job.batch.samples[v].size()));
  if (job.shares_inputs) first_products(job);
  each_view([&](std::size_t v) {
    ViewPass<S>& pass = passes_[v];
    if (pass.rows() == 0) return;
    if (job.shares_inputs) {
      input_layers_.add_parts(static_cast<Index>(v), pass.first_product());
    } else {
      job.pieces.over_rows(pass.rows(), [&](Index first, Index count) {
        job.read(static_cast<Index>(v), some(job.batch.samples[v], first, count), 0,
                 pass.input().middleRows(first, count));
      });
      alter(v, job);
    }
    pass.forward(network_, objective_.perturbation.dropout, job.rng, job.pieces, job.shares_inputs);
  });
}

// What training does to rows that have been read.
template <class S>
void TrainingStep<S>::alter(std::size_t v, const Job& job) {
  ViewPass<S>& pass = passes_[v];
  if (pass.rows() == 0) return;
  if (job.change != nullptr) {
    const Rng rng = job.rng.split("augment");
    job.pieces.over_rows(pass.rows(), [&](Index first, Index count) {
      (*job.change)(static_cast<Index>(v), some(job.batch.samples[v], first, count),
                    pass.input().middleRows(first, count), rng);
    });
  }
  mix(v, job.batch);
  pass.perturb(objective_.perturbation, job.rng);
}

// Every thread reads the columns that it multiplies, unless something is done to whole rows in between.
template <class S>
void TrainingStep<S>::first_products(const Job& job) {
  const bool alters = job.change != nullptr || !job.batch.partner.empty() || objective_.perturbation.of_inputs() ||
                      network_.shape.reconstructs;
  const auto multiply = [&](const InputPart& part, std::size_t task) {
    ViewPass<S>& pass = passes_[static_cast<std::size_t>(part.view)];
    const auto weights = network_.parameters[network_.encoder(part.view).hidden.front().weight];
    dense_forward<S>(pass.arrange(part.first, part.count), weights.middleRows(part.first, part.count),
                     input_layers_.target(part, pass.first_product()), scratch_[task].work, job.pieces, kNothing);
  };
  const auto each_part = [&](auto work) {
    input_layers_.each_part(context_, [&](const InputPart& part, std::size_t task) {
      if (passes_[static_cast<std::size_t>(part.view)].rows() > 0) work(part, task);
    });
  };
  each_part([&](const InputPart& part, std::size_t task) {
    const auto v = static_cast<std::size_t>(part.view);
    job.read(part.view, job.batch.samples[v], part.first, passes_[v].input().middleCols(part.first, part.count));
    if (!alters) multiply(part, task);
  });
  if (!alters) return;
  each_view([&](std::size_t v) { alter(v, job); });
  each_part(multiply);
}

// The way back through the first products, where they were shared.
template <class S>
void TrainingStep<S>::first_weights_backward(const Job& job) {
  input_layers_.each_part(context_, [&](const InputPart& part, std::size_t task) {
    const auto v = static_cast<std::size_t>(part.view);
    if (passes_[v].rows() == 0) return;
    weight_backward({network_.encoders[v].hidden.front().weight, part.first,
                     passes_[v].arranged().middle_columns(part.first, part.count), first_gradients_[v]},
                    {}, scratch_[task].work, job);
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
  MatrixMap<S> x = passes_[v].input();
  Workspace& work = scratch_[v].work;
  const Workspace::Frame frame(work);
  MatrixMap<S> before = work.matrix<S>(x.rows(), x.cols());
  before = x;
  const S share = static_cast<S>(batch.own_share);
  for (Index i = 0; i < x.rows(); ++i) {
    x.row(i) = share * before.row(i) + (1 - share) * before.row(batch.partner[v][static_cast<std::size_t>(i)]);
  }
}

template <class S>
void TrainingStep<S>::clear_gradients(std::size_t v) {
  heads_[v].clear();
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
void TrainingStep<S>::product_backward(std::size_t v, const Slot& weight, PanelMap<S> x, PanelMap<S> dy, PanelMap<S> dx,
                                       ColumnsDone done, const Job& job) {
  if (job.shares_inputs && weight.offset == network_.encoders[v].hidden.front().weight.offset) {
    first_gradients_[v] = dy;
    return;
  }
  Workspace& work = scratch_[v].work;
  if (job.with_update && !x.in_panels() && dy.cols() <= kColumnsToPass) {
    weight_backward({weight, 0, x, dy}, dx, work, job);
    if (dx.cols() > 0) job.pieces.over_columns(dx.cols(), done);
    return;
  }
  if (dx.cols() > 0) dense_backward_input<S>(dy, network_.parameters[weight], dx, work, job.pieces, done);
  weight_backward({weight, 0, x, dy}, {}, work, job);
}

template <class S>
void TrainingStep<S>::weight_backward(const WeightRows<S>& rows, PanelMap<S> dx, Workspace& work, const Job& job) {
  if (job.with_update && !rows.x.in_panels()) return optimizer_.update(rows, dx, work, job.pieces);
  assert(dx.cols() == 0);
  const auto update = [&](Index first, Index count) {
    if (job.with_update) optimizer_.update(rows.weight, rows.first + first, count, gradients_);
  };
  dense_backward_weight<S>(rows.x, rows.dy, gradients_[rows.weight].middleRows(rows.first, rows.x.cols()), work,
                           job.pieces, update);
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
    terms_[v].task = heads_[v].losses(network_, objective_, batch, pass);
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
void TrainingStep<S>::encoder_backward(std::size_t v, const Job& job) {
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
  const auto take = [&](const Slot& weight, PanelMap<S> x, PanelMap<S> dy, PanelMap<S> dx, ColumnsDone done) {
    product_backward(v, weight, x, dy, dx, done, job);
  };
  if (network_.shape.reconstructs) {
    terms_[v].reconstruction =
        pass.reconstruction(network_, objective_.reconstruction_weight, dropout, job.rng, gradients_, take, job.pieces);
  }
  if (network_.shape.private_components > 0) terms_[v].separation = pass.separation(objective_.private_weight);
  pass.backward_encoder(network_, dropout, job.rng, gradients_, take, job.pieces);
}

// What the way back has not updated yet: everything of a view that was left out, otherwise all but the weights.
template <class S>
void TrainingStep<S>::update_encoder(std::size_t v) {
  const EncoderSlots& e = network_.encoders[v];
  const bool left_out = passes_[v].rows() == 0;
  const auto update_hidden = [&](const std::vector<HiddenSlots>& layers) {
    for (const HiddenSlots& h : layers) {
      for (const Slot* slot : {&h.bias, &h.scale, &h.shift}) optimizer_.update(*slot, gradients_);
      if (left_out) optimizer_.update(h.weight, gradients_);
    }
  };
  update_hidden(e.hidden);
  if (left_out) optimizer_.update(e.output_weight, gradients_);
  if (!network_.shape.reconstructs) return;
  update_hidden(e.decoder);
  optimizer_.update(e.decoder_bias, gradients_);
  if (left_out) optimizer_.update(e.decoder_weight, gradients_);
}

template class TrainingStep<float>;
template class TrainingStep<double>;

}  // namespace tocca
