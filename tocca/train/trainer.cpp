#include "tocca/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/train/pseudo_labels.h"
#include "tocca/train/requirements.h"
#include "tocca/train/validation.h"

namespace tocca {
namespace {

// Larger is better; the second number decides between equals. NaN: nothing was measured.
using Score = std::pair<double, double>;

// Epochs with one objective. Each has its own learning rate schedule and its own random numbers.
struct Phase {
  std::string_view name;
  int epochs = 0;
  int epochs_before = 0;  // in earlier phases
};

// The part of the network's values that training changes.
struct Snapshot {
  Buffer<float> parameters;
  Buffer<double> statistics;
  int epoch = 0;
  Score score;
};

// One run of the loop; its members are what the epochs share.
class Run {
 public:
  Run(Network<float>& network, const TrainingData& training, const TrainingData& validation,
      const TrainOptions& options, const Rng& rng, const Context& context)
      : network_(network),
        training_(training),
        validation_(validation),
        options_(options),
        rng_(rng),
        context_(context),
        least_rows_(least_rows(network.shape, training.dataset->views, options.batch_size)),
        step_(network, options.objective, capacity(), context),
        clusters_(training, options.clusters),
        recent_(network.shape.shared_head ? network.views() : 1, network.shape.components),
        checkpoint_(options.checkpoint) {}

  TrainSummary run() {
    const auto start = std::chrono::steady_clock::now();
    keep(0);
    if (const auto state = checkpoint_.load()) restore(*state);
    if (pretrain()) main_phase();
    conclude();
    summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary_;
  }

 private:
  // False when the run ended there.
  bool pretrain() {
    if (options_.pretrain_epochs == 0 || summary_.epochs > 0) return true;
    const Phase phase{"pretraining epoch", options_.pretrain_epochs, 0};
    summary_.pretraining = true;
    step_.set_objective(options_.pretraining);
    for (int epoch = pretrained_ + 1; epoch <= phase.epochs; ++epoch) {
      EpochRecord record;
      record.epoch = epoch;
      if (!run_epoch(record, phase)) return false;
      if (!network_.finite()) {
        summary_.status = TrainStatus::diverged;
        return false;
      }
      pretrained_ = epoch;
      keep_state();
    }
    summary_.pretraining = false;
    step_.set_objective(options_.objective);
    keep(0);
    return true;
  }

  void main_phase() {
    const Phase phase{"epoch", options_.epochs, options_.pretrain_epochs};
    // A run that was stopped between its last epoch and its end has nothing left to do.
    if (!summary_.history.empty() && (stopped_early(summary_.history.back()) || paused(summary_.epochs))) return;
    for (int epoch = summary_.epochs + 1; epoch <= phase.epochs; ++epoch) {
      EpochRecord record;
      record.epoch = epoch;
      if (!run_epoch(record, phase)) break;
      finish_epoch(record);
      if (summary_.status == TrainStatus::diverged) break;
      keep_state(epoch == context_.pause_after);
      if (stopped_early(record) || paused(epoch)) break;
    }
  }

  bool paused(int epoch) {
    if (context_.pause_after <= 0 || epoch < context_.pause_after || epoch >= options_.epochs) return false;
    summary_.status = TrainStatus::paused;
    return true;
  }

  void keep_state(bool must = false) {
    if (!checkpoint_.due(must)) return;
    TensorFile state;
    add_values<float>(state, "parameters", network_.parameters.values());
    add_values<double>(state, "statistics", network_.statistics.values());
    add_values<float>(state, "best.parameters", best_.parameters.values());
    add_values<double>(state, "best.statistics", best_.statistics.values());
    add_values<double>(state, "progress",
                       Vector<double>{{static_cast<double>(pretrained_), static_cast<double>(best_.epoch),
                                       best_.score.first, best_.score.second, scored_ ? 1.0 : 0.0}});
    add_history(state, summary_.history);
    step_.optimizer().save(state);
    recent_.save(state);
    clusters_.save(state);
    checkpoint_.keep(std::move(state));
  }

  void restore(const TensorFile& state) {
    read_values<float>(state, "parameters", network_.parameters.values());
    read_values<double>(state, "statistics", network_.statistics.values());
    read_values<float>(state, "best.parameters", best_.parameters.values());
    read_values<double>(state, "best.statistics", best_.statistics.values());
    Vector<double> progress(5);
    read_values<double>(state, "progress", progress);
    pretrained_ = whole_number(progress(0), options_.pretrain_epochs);
    best_.epoch = whole_number(progress(1), options_.epochs);
    best_.score = {progress(2), progress(3)};
    scored_ = progress(4) != 0;
    summary_.history = read_history(state);
    summary_.epochs = static_cast<int>(summary_.history.size());
    if (best_.epoch > summary_.epochs) throw InputError("checkpoint", "its epochs do not match; the file is damaged");
    step_.optimizer().load(state);
    recent_.load(state);
    clusters_.load(state);
    context_.info(fmt::format("going on after epoch {} of {}", pretrained_ + summary_.epochs,
                              options_.pretrain_epochs + options_.epochs));
  }

  // A remainder that is too small joins the batch before it.
  [[nodiscard]] Index capacity() const {
    return std::min(training_.dataset->views.size(), options_.batch_size + least_rows_ - 1);
  }

  // False when the run has to end within the epoch.
  bool run_epoch(EpochRecord& record, const Phase& phase) {
    const Rng rng = rng_.split(phase.name, static_cast<std::uint64_t>(record.epoch));
    if (options_.clusters > 0 && !summary_.pretraining) clusters_.renew(network_, rng.split("clusters"), context_);
    const auto batches = cut_epoch(rng);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      if (context_.cancelled()) {
        summary_.status = TrainStatus::interrupted;
        return false;
      }
      const BatchOptions batch_options{least_rows_, options_.view_dropout, options_.mixup};
      const Batch batch = make_batch(clusters_.data(), batches[b], batch_options, rng.split("batch", b));
      const double done = record.epoch - 1 + static_cast<double>(b) / static_cast<double>(batches.size());
      const LossTerms terms = step(batch, rng.split("batch", b), done / phase.epochs);
      if (!std::isfinite(terms.total(step_.objective()))) {
        summary_.status = TrainStatus::diverged;
        return false;
      }
      if (!summary_.pretraining) recent_.add(step_, batch);
      const double share = 1.0 / static_cast<double>(batches.size());
      record.terms.task += share * terms.task;
      record.terms.agreement += share * terms.agreement;
      record.terms.decorrelation += share * terms.decorrelation;
      record.terms.reconstruction += share * terms.reconstruction;
      record.terms.separation += share * terms.separation;
      report(record, phase.epochs_before + record.epoch - 1 + static_cast<double>(b + 1) * share);
    }
    return true;
  }

  [[nodiscard]] std::vector<std::vector<Index>> cut_epoch(const Rng& rng) const {
    const Dataset& data = clusters_.data();
    if (!options_.stratified_batches || data.labels.codes.empty()) {
      return cut_batches(data.views.size(), options_.batch_size, least_rows_, rng);
    }
    return cut_stratified_batches(data.labels.codes, options_.batch_size, least_rows_, rng);
  }

  // A covariance that is not finite has no eigenvectors: whitening throws where other methods give a loss of NaN.
  LossTerms step(const Batch& batch, const Rng& rng, double share_done) {
    try {
      NadamOptions nadam = options_.nadam;
      nadam.learning_rate *= learning_rate_factor(options_.schedule, share_done);
      return step_.step(batch, training_.read, rng, nadam, training_.augment);
    } catch (const InputError&) {
      throw;
    } catch (const Error& error) {
      reason_ = error.what();
      return {.task = std::numeric_limits<double>::quiet_NaN()};
    }
  }

  void finish_epoch(EpochRecord& record) {
    if (!network_.finite()) {
      summary_.status = TrainStatus::diverged;
      return;
    }
    if (record.epoch == 1) {
      const std::vector<View>& views = training_.dataset->views.views;
      require_trained_views(network_, views, options_.batch_size, least_rows_);
      require_tied_pairs(network_, views, options_.objective.agreement, options_.batch_size);
    }
    record.weight_decay = options_.objective.weight_decay * squared_weights();
    validate_epoch(network_, options_.objective, validation_, recent_, context_, record);
    summary_.epochs = record.epoch;
    summary_.history.push_back(record);
    const Score score = score_of(record);
    const bool measured = !std::isnan(score.first);
    if (measured ? !scored_ || score > best_.score : !scored_) {
      best_.score = score;
      scored_ = measured;
      keep(record.epoch);
    }
    report(record, options_.pretrain_epochs + record.epoch);
  }

  [[nodiscard]] Score score_of(const EpochRecord& record) const {
    switch (options_.objective.task) {
      case Task::heads:
        if (options_.clusters > 0) return {record.sum_correlation, 0};
        return {record.validation_score, -record.validation_loss};
      case Task::lda:
        return {-record.validation_loss, 0};
      default:
        return {record.sum_correlation, 0};
    }
  }

  [[nodiscard]] bool stopped_early(const EpochRecord& record) {
    if (options_.patience <= 0 || record.epoch - best_.epoch < options_.patience) return false;
    summary_.status = TrainStatus::stopped_early;
    return true;
  }

  void keep(int epoch) {
    best_.parameters = network_.parameters;
    best_.statistics = network_.statistics;
    best_.epoch = epoch;
  }

  [[nodiscard]] double squared_weights() const {
    double sum = 0;
    for (const Slot& slot : network_.parameter_layout.slots()) {
      if (slot.decays) sum += static_cast<double>(network_.parameters[slot].squaredNorm());
    }
    return sum;
  }

  void conclude() {
    if (summary_.status == TrainStatus::closed_form) summary_.status = TrainStatus::completed;
    network_.parameters = best_.parameters;
    network_.statistics = best_.statistics;
    summary_.best_epoch = best_.epoch;
    summary_.message = message();
    if (summary_.status == TrainStatus::interrupted || summary_.status == TrainStatus::paused) {
      checkpoint_.write();
    } else {
      checkpoint_.remove();
    }
  }

  [[nodiscard]] std::string where() const {
    if (summary_.pretraining) return "pre-training";
    return fmt::format("epoch {} of {}", summary_.epochs + 1, options_.epochs);
  }

  [[nodiscard]] std::string message() const {
    const std::string kept = best_.epoch > 0 ? fmt::format("the weights of epoch {} are kept", best_.epoch)
                                             : std::string("no epoch was finished");
    switch (summary_.status) {
      case TrainStatus::stopped_early:
        return fmt::format("stopped after epoch {}: no better validation score for {} epochs; {}", summary_.epochs,
                           options_.patience, kept);
      case TrainStatus::interrupted:
        return fmt::format(
            "interrupted in {}; {}{}", where(), kept,
            checkpoint_.wanted() && summary_.epochs + pretrained_ > 0 ? "; the same command goes on from there" : "");
      case TrainStatus::paused:
        return fmt::format("paused after epoch {} of {}; {}", summary_.epochs, options_.epochs, kept);
      case TrainStatus::diverged:
        return fmt::format("diverged in {}: {}; {}. {}", where(), reason_, kept, remedy());
      default:
        return fmt::format("completed {} epochs; {}", summary_.epochs, kept);
    }
  }

  // What helps against divergence depends on what there is to be changed.
  [[nodiscard]] std::string remedy() const {
    const bool decomposes = network_.shape.projection == Projection::whiten || !network_.pairs.empty() ||
                            step_.objective().task == Task::lda;
    std::string text = fmt::format("Lower learning_rate (now {}), or raise {}batch_size", options_.nadam.learning_rate,
                                   decomposes ? "whitening_epsilon or " : "");
    // Later the numbers that came in have been seen to be all right.
    if (summary_.epochs + pretrained_ == 0) text += "; columns far larger than 1 need standardize = zscore";
    return text;
  }

  void report(const EpochRecord& r, double done) const {
    if (!context_.progress) return;
    const Objective& objective = step_.objective();
    Progress state{"train", done, static_cast<double>(options_.pretrain_epochs + options_.epochs), {}};
    if (objective.task != Task::none) state.values.emplace_back("task", r.terms.task);
    const bool agrees = network_.views() > 1 && network_.shape.shared_head && objective.agreement != Agreement::none;
    if (agrees) state.values.emplace_back("agreement", r.terms.agreement);
    if (network_.shape.decorrelated) state.values.emplace_back("decorrelation", r.terms.decorrelation);
    if (network_.shape.reconstructs) state.values.emplace_back("reconstruction", r.terms.reconstruction);
    if (!summary_.history.empty()) {
      const EpochRecord& last = summary_.history.back();
      if (last.weight_decay > 0) state.values.emplace_back("weight decay", last.weight_decay);
      if (!std::isnan(last.validation_score)) state.values.emplace_back("validation score", last.validation_score);
      if (!std::isnan(last.sum_correlation)) state.values.emplace_back("sum correlation", last.sum_correlation);
    }
    context_.report(state);
  }

  Network<float>& network_;
  const TrainingData& training_;
  const TrainingData& validation_;
  const TrainOptions& options_;
  const Rng& rng_;
  const Context& context_;
  Index least_rows_;
  TrainingStep<float> step_;
  PseudoLabels clusters_;
  RecentActivations recent_;
  Checkpoint checkpoint_;
  int pretrained_ = 0;  // epochs of pre-training finished
  TrainSummary summary_;
  Snapshot best_;
  bool scored_ = false;  // an epoch was measured on validation data
  std::string reason_ = "the loss is not finite";
};

}  // namespace

double learning_rate_factor(Schedule schedule, double done) {
  return schedule == Schedule::cosine ? 0.5 * (1 + std::cos(std::numbers::pi * done)) : 1;
}

std::string_view name_of(TrainStatus status) {
  switch (status) {
    case TrainStatus::closed_form:
      return "closed form";
    case TrainStatus::completed:
      return "completed";
    case TrainStatus::stopped_early:
      return "stopped early";
    case TrainStatus::interrupted:
      return "interrupted";
    case TrainStatus::paused:
      return "paused";
    case TrainStatus::diverged:
      return "diverged";
  }
  return "";
}

TrainSummary train(Network<float>& network, const TrainingData& training, const TrainingData& validation,
                   const TrainOptions& options, const Rng& rng, const Context& context) {
  if (options.epochs < 1) throw InputError("train", fmt::format("epochs: got {}, need at least 1", options.epochs));
  return Run(network, training, validation, options, rng, context).run();
}

Matrix<float> project_samples(const Network<float>& network, Index view, std::span<const Index> samples,
                              const RowReader<float>& read, const Context& context) {
  Matrix<float> z(static_cast<Index>(samples.size()), network.shape.components);
  context.parallel_rows(z.rows(), [&](Index first, Index rows) {
    Matrix<float> x(rows, network.shape.inputs[static_cast<std::size_t>(view)]);
    read(view, samples.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)), 0, x);
    z.middleRows(first, rows) = project<float>(network, view, x);
  });
  return z;
}

}  // namespace tocca
