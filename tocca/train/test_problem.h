/// Small networks with data, given or drawn at random, for tests of the training step.
#pragma once

#include <cmath>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tocca/testing/matchers.h"
#include "tocca/train/step.h"

namespace tocca::testing {

struct Problem {
  NetworkShape shape;
  Objective objective;
  std::vector<Matrix<double>> x;
  Dataset data;
  std::vector<std::vector<Index>> batches;

  [[nodiscard]] RowReader<double> reader() const {
    return [this](Index view, std::span<const Index> samples, Index first, MatrixRef<double> out) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        out.row(static_cast<Index>(i)) = x[static_cast<std::size_t>(view)].row(samples[i]).segment(first, out.cols());
      }
    };
  }
};

// Views whose rows are the samples' numbers; `present` says which sample has which view.
inline Dataset dataset(const std::vector<std::vector<int>>& present, const std::vector<int>& labels, int classes) {
  Dataset data;
  data.views.samples.resize(labels.size());
  for (const auto& mask : present) {
    View view;
    for (std::size_t i = 0; i < mask.size(); ++i)
      view.row_of_sample.push_back(mask[i] != 0 ? static_cast<Index>(i) : -1);
    data.views.views.push_back(view);
  }
  data.labels = {labels, std::vector<std::string>(static_cast<std::size_t>(classes))};
  return data;
}

struct GradientCase {
  std::string name;
  Projection projection;
  bool decorrelated;
  Index views, batch;
  bool gaps;
  double labelled;
  bool shared_head = true;
  Task task = Task::heads;
  Agreement agreement = Agreement::l2;
  std::vector<HeadShape> heads = class_heads(3);
  double mixup = 0;
  Index private_components = -1;  // −1: and no decoder
  CcaBasis basis = CcaBasis::aligned;
};

// For messages; otherwise they have the bytes of a case.
inline void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

// A head of every kind; the data set has the targets of those in use, in this order.
inline const std::vector<HeadShape> kAllHeads = {{TargetKind::classification, 3, -1},
                                                 {TargetKind::regression, 2, 0},
                                                 {TargetKind::survival, 1, 1},
                                                 {TargetKind::multilabel, 2, 2},
                                                 {TargetKind::classification, 2, 3}};

inline GradientCase with_heads(GradientCase c, std::vector<HeadShape> heads, double mixup = 0) {
  c.heads = std::move(heads);
  c.mixup = mixup;
  return c;
}

inline Target random_target(const HeadShape& head, const GradientCase& c, Rng& rng) {
  Target target{head.kind, {}, {}, {}};
  if (head.kind == TargetKind::classification) {
    for (Index i = 0; i < c.batch; ++i) {
      target.labels.codes.push_back(rng.uniform() < c.labelled ? static_cast<int>(rng.below(2)) : -1);
    }
    return target;
  }
  const bool flags = head.kind == TargetKind::multilabel;
  target.values = random_matrix(rng, c.batch, head.kind == TargetKind::survival ? 2 : head.outputs);
  for (Index i = 0; i < target.values.rows(); ++i) {
    for (Index j = 0; j < target.values.cols(); ++j) {
      double& value = target.values(i, j);
      if (flags || (head.kind == TargetKind::survival && j == 1)) value = value > 0 ? 1 : 0;
      if (head.kind == TargetKind::survival && j == 0) value = std::floor(3 * std::abs(value));  // some are tied
      if (rng.uniform() >= c.labelled) value = std::nan("");
    }
  }
  return target;
}

inline Problem random_problem(const GradientCase& c, Rng& rng) {
  Problem p;
  p.shape = {.inputs = {4, 3, 5}, .hidden_layers = 2, .hidden_size = 5, .components = 3, .heads = c.heads};
  p.shape.inputs.resize(static_cast<std::size_t>(c.views));
  p.shape.projection = c.projection;
  p.shape.decorrelated = c.decorrelated;
  p.shape.shared_head = c.shared_head;
  p.shape.paired = c.agreement == Agreement::trace_norm || c.task == Task::ranking;
  if (c.task != Task::heads) p.shape.heads.clear();
  p.shape.reconstructs = c.private_components >= 0;
  p.shape.private_components = std::max<Index>(c.private_components, 0);
  p.shape.momentum = 0.7;
  p.objective = {.task = c.task,
                 .agreement = c.agreement,
                 .agreement_weight = c.shared_head ? 0.4 : 0,
                 .decorrelation_weight = c.decorrelated ? 0.2 : 0,
                 .reconstruction_weight = 0.7,
                 .private_weight = 0.6,
                 .perturbation = {.dropout = 0.2, .input_dropout = 0.1, .input_noise = 0.1},
                 .cca_basis = c.basis};
  std::vector<std::vector<int>> present(p.shape.inputs.size());
  std::vector<int> labels;
  for (Index i = 0; i < c.batch; ++i) {
    labels.push_back(rng.uniform() < c.labelled ? static_cast<int>(rng.below(3)) : -1);
    for (auto& mask : present) mask.push_back(c.gaps && rng.uniform() < 0.3 ? 0 : 1);
  }
  for (const Index d : p.shape.inputs) p.x.push_back(random_matrix(rng, c.batch, d));
  p.data = dataset(present, labels, 3);
  for (HeadShape& head : p.shape.heads) {
    if (head.target < 0) continue;
    head.target = static_cast<int>(p.data.targets.size());
    p.data.targets.push_back(random_target(head, c, rng));
  }
  for (std::size_t h = 0; h < p.shape.heads.size(); ++h)
    p.objective.head_weights.push_back(0.5 + static_cast<double>(h));
  return p;
}

}  // namespace tocca::testing
