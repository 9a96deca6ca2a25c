#include "tocca/train/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/linalg/cca.h"
#include "tocca/linalg/correlation.h"
#include "tocca/model/fitted_model.h"
#include "tocca/ops/lda_loss.h"

namespace tocca {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HeadTargets known_of(const Dataset& data, int target, std::span<const Index> samples) {
  HeadTargets known;
  if (target < 0) {
    known.add(data.labels, samples);
  } else {
    known.add(data.targets[static_cast<std::size_t>(target)], samples);
  }
  return known;
}

// Adds what the heads score on a view; a head of which nothing is known there, or that cannot be measured, counts
// nothing.
class HeadScores {
 public:
  HeadScores(const Network<float>& network, const Objective& objective)
      : network_(network), objective_(objective), scores_(network.shape.heads.size()) {}

  void add(const Dataset& data, Index view, std::span<const Index> samples, const Matrix<float>& z) {
    for (std::size_t h = 0; h < scores_.size(); ++h) {
      const HeadShape& head = network_.shape.heads[h];
      const HeadTargets known = known_of(data, head.target, samples);
      Matrix<double> outputs = head_outputs<float>(network_, h, view, z).cast<double>();
      if (!outputs.allFinite()) continue;
      const double score = head_score(head.kind, known, outputs);
      if (std::isnan(score)) continue;
      scores_[h].sum += score;
      ++scores_[h].views;
      loss_ += objective_.head_weight(h) * head_loss<double>(head.kind, known, loss_options(h), outputs, work_);
    }
  }

  void tell(EpochRecord& record) const {
    double sum = 0;
    double weights = 0;
    for (std::size_t h = 0; h < scores_.size(); ++h) {
      if (scores_[h].views == 0) continue;
      sum += objective_.head_weight(h) * scores_[h].sum / scores_[h].views;
      weights += objective_.head_weight(h);
    }
    if (weights <= 0) return;
    record.validation_score = sum / weights;
    record.validation_loss = loss_;
  }

 private:
  struct Score {
    double sum = 0;
    int views = 0;
  };

  // As in training, but for what is done to the targets there.
  [[nodiscard]] HeadLossOptions loss_options(std::size_t head) const {
    HeadLossOptions options = objective_.head_options.empty() ? HeadLossOptions{} : objective_.head_options[head];
    options.softmax.label_smoothing = 0;
    return options;
  }

  const Network<float>& network_;
  const Objective& objective_;
  std::vector<Score> scores_;
  double loss_ = 0;
  Workspace work_;
};

double separation_loss(const Matrix<float>& z, std::span<const Index> samples, const std::vector<int>& codes,
                       const LdaLossOptions& options) {
  std::vector<int> labels;
  labels.reserve(samples.size());
  for (const Index sample : samples) labels.push_back(codes[static_cast<std::size_t>(sample)]);
  Matrix<double> unused = Matrix<double>::Zero(z.rows(), z.cols());
  LdaLossScratch scratch;
  return lda_loss<double>(z.cast<double>(), labels, options, 0, unused, scratch);
}

// The rows of z for samples that have every view.
Matrix<double> complete_rows(const Matrix<float>& z, const std::vector<Index>& samples, const Views& views) {
  Matrix<double> rows(z.rows(), z.cols());
  Index kept = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (views.complete(samples[i])) rows.row(kept++) = z.row(static_cast<Index>(i)).cast<double>();
  }
  return rows.topRows(kept);
}

double mean_sum_correlation(const std::vector<Matrix<double>>& recent, const std::vector<Matrix<double>>& held_out) {
  const std::size_t views = held_out.size();
  double sum = 0;
  for (std::size_t u = 0; u < views; ++u) {
    for (std::size_t v = u + 1; v < views; ++v) {
      const CcaOptions options{.ridge = 1e-6};
      sum += held_out_sum_correlation(recent[u], recent[v], held_out[u], held_out[v], options);
    }
  }
  return sum / static_cast<double>(views * (views - 1) / 2);
}

}  // namespace

RecentActivations::RecentActivations(Index views, Index components, Index capacity)
    : rings_(static_cast<std::size_t>(views), Matrix<float>(views > 1 ? capacity : 0, components)) {}

void RecentActivations::add(TrainingStep<float>& step, const Batch& batch) {
  if (rings_.size() < 2) return;
  for (std::size_t p = 0; p < batch.row_of[0].size(); ++p) {
    if (std::any_of(batch.row_of.begin(), batch.row_of.end(), [&](const auto& rows) { return rows[p] < 0; })) continue;
    for (std::size_t v = 0; v < rings_.size(); ++v) {
      rings_[v].row(next_) = step.view(static_cast<Index>(v)).a().row(batch.row_of[v][p]);
    }
    next_ = (next_ + 1) % rings_[0].rows();
    filled_ = std::min(filled_ + 1, rings_[0].rows());
  }
}

Matrix<double> RecentActivations::projected(const Network<float>& network, Index view) const {
  const Matrix<float> a = rings_[static_cast<std::size_t>(view)].topRows(filled_);
  return project_activations<float>(network, view, a).cast<double>();
}

void RecentActivations::save(TensorFile& file) const {
  add_values<double>(file, "recent.place", Vector<double>{{static_cast<double>(next_), static_cast<double>(filled_)}});
  for (std::size_t v = 0; v < rings_.size(); ++v)
    file.add("recent.view" + std::to_string(v), rings_[v].topRows(filled_));
}

void RecentActivations::load(const TensorFile& file) {
  Vector<double> place(2);
  read_values<double>(file, "recent.place", place);
  next_ = whole_number(place(0), 1e9);
  filled_ = whole_number(place(1), 1e9);
  for (std::size_t v = 0; v < rings_.size(); ++v) {
    const Matrix<float>& ring = file.matrix_f("recent.view" + std::to_string(v));
    const bool fits = ring.rows() == filled_ && filled_ <= rings_[v].rows() && ring.cols() == rings_[v].cols() &&
                      next_ >= 0 && next_ <= filled_;
    if (!fits) throw InputError("load", "tensor 'recent': of another shape; the file is damaged");
    rings_[v].topRows(filled_) = ring;
  }
}

void validate_epoch(const Network<float>& network, const Objective& objective, const TrainingData& validation,
                    const RecentActivations& recent, const Context& context, EpochRecord& record) {
  record.validation_score = record.validation_loss = record.sum_correlation = kNan;
  if (validation.dataset == nullptr) return;
  const Dataset& data = *validation.dataset;
  HeadScores scores(network, objective);
  double separation = 0;
  std::vector<Matrix<double>> complete;
  for (Index view = 0; view < data.views.count(); ++view) {
    const auto samples = samples_with_view(data.views, view);
    const Matrix<float> z = project_samples(network, view, samples, validation.read, context);
    complete.push_back(complete_rows(z, samples, data.views));
    if (objective.task == Task::heads) scores.add(data, view, samples, z);
    if (objective.task == Task::lda && !data.labels.codes.empty() && z.allFinite()) {
      separation += separation_loss(z, samples, data.labels.codes, {.ridge = network.shape.whitening.epsilon});
    }
  }
  scores.tell(record);
  if (separation != 0) record.validation_loss = separation;  // 0: too few labelled samples to measure anything
  const bool usable = std::all_of(complete.begin(), complete.end(), [](const auto& z) { return z.allFinite(); });
  if (!usable) return;
  if (complete.size() < 2 || complete[0].rows() < 3 || recent.rows() < 3) return;
  try {
    std::vector<Matrix<double>> trained_on;
    for (Index v = 0; v < network.views(); ++v) trained_on.push_back(recent.projected(network, v));
    record.sum_correlation = mean_sum_correlation(trained_on, complete);
  } catch (const Error&) {  // a figure to watch is not worth a training; it stays NaN
  }
}

}  // namespace tocca
