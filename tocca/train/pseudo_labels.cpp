#include "tocca/train/pseudo_labels.h"

#include <fmt/format.h>

#include "tocca/core/error.h"
#include "tocca/linalg/assignment.h"
#include "tocca/linalg/kmeans.h"
#include "tocca/model/fitted_model.h"

namespace tocca {
namespace {

// Before the first batch a whitening transform or CCA layer is 0; then activations stand for projections.
Matrix<float> project_or_encode(const Network<float>& network, Index view, std::span<const Index> samples,
                                const TrainingData& data, const Context& context) {
  Matrix<float> z = project_samples(network, view, samples, data.read, context);
  if ((z.array() != 0).any()) return z;
  context.parallel_rows(z.rows(), [&](Index first, Index rows) {
    Matrix<float> x(rows, network.shape.inputs[static_cast<std::size_t>(view)]);
    data.read(view, samples.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)), 0, x);
    z.middleRows(first, rows) = activations<float>(network, view, x);
  });
  return z;
}

Matrix<double> mean_projections(const Network<float>& network, const TrainingData& data, const Context& context) {
  const Views& views = data.dataset->views;
  Matrix<double> sum = Matrix<double>::Zero(views.size(), network.shape.components);
  Vector<double> count = Vector<double>::Zero(views.size());
  for (Index v = 0; v < views.count(); ++v) {
    const auto samples = samples_with_view(views, v);
    const Matrix<float> z = project_or_encode(network, v, samples, data, context);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      sum.row(samples[i]) += z.row(static_cast<Index>(i)).cast<double>();
      count(samples[i]) += 1;
    }
  }
  for (Index i = 0; i < sum.rows(); ++i) {
    if (count(i) > 0) sum.row(i) /= count(i);
  }
  return sum;
}

// New numbers of the clusters: the old ones with which they share most samples.
std::vector<Index> matching(const std::vector<int>& fresh, const std::vector<int>& before, Index clusters) {
  Matrix<double> cost = Matrix<double>::Zero(clusters, clusters);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (before[i] >= 0) cost(fresh[i], before[i]) -= 1;
  }
  return minimum_cost_assignment(cost);
}

}  // namespace

PseudoLabels::PseudoLabels(const TrainingData& training, Index clusters) : training_(training), clusters_(clusters) {
  if (clusters == 0) return;
  const Index samples = training.dataset->views.size();
  if (samples < clusters) {
    throw InputError("train", fmt::format("clusters: got {} for {} training samples, need at most as many clusters as "
                                          "samples",
                                          clusters, samples));
  }
  clustered_ = *training.dataset;
  clustered_->labels.codes.assign(static_cast<std::size_t>(samples), -1);
  clustered_->labels.classes.clear();
  for (Index c = 0; c < clusters; ++c) clustered_->labels.classes.push_back(fmt::format("cluster{}", c));
}

void PseudoLabels::save(TensorFile& file) const {
  if (!clustered_) return;
  Vector<double> codes(clustered_->labels.size());
  for (Index i = 0; i < codes.size(); ++i) codes(i) = clustered_->labels.codes[static_cast<std::size_t>(i)];
  add_values<double>(file, "clusters", codes);
}

void PseudoLabels::load(const TensorFile& file) {
  if (!clustered_) return;
  Vector<double> codes(clustered_->labels.size());
  read_values<double>(file, "clusters", codes);
  for (Index i = 0; i < codes.size(); ++i) {
    const bool known = codes(i) >= -1 && codes(i) < static_cast<double>(clusters_);
    if (!known) throw InputError("load", "tensor 'clusters': a cluster that there is not; the file is damaged");
    clustered_->labels.codes[static_cast<std::size_t>(i)] = static_cast<int>(codes(i));
  }
}

void PseudoLabels::renew(const Network<float>& network, const Rng& rng, const Context& context) {
  const Matrix<double> z = mean_projections(network, training_, context);
  if (!z.allFinite()) return;  // training tells that it diverged
  const std::vector<int> fresh = kmeans(z, clusters_, {.restarts = 3, .max_iterations = 100}, rng).labels;
  const std::vector<Index> number = matching(fresh, clustered_->labels.codes, clusters_);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    clustered_->labels.codes[i] = static_cast<int>(number[static_cast<std::size_t>(fresh[i])]);
  }
}

}  // namespace tocca
