/// What a head of the network predicts, one row of a table for each kind of target: its loss in training, and what its
/// outputs mean. A head is a linear map of the shared space, outputs = Z W + b.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tocca/data/targets.h"
#include "tocca/ops/cox.h"
#include "tocca/ops/softmax.h"

namespace tocca {

struct HeadShape {
  TargetKind kind = TargetKind::classification;
  Index outputs = 2;  ///< C ≥ 2 classes, t ≥ 1 numbers or properties; survival: 1, the log hazard
  int target = -1;    ///< which of the data set's targets it predicts; −1: the labels
};

/// How many outputs a head has for a target of that kind, with so many columns and classes.
Index outputs_for(TargetKind kind, std::size_t columns, std::size_t classes);

/// One head that tells C classes apart, or none for C = 0.
std::vector<HeadShape> class_heads(Index classes);

/// What the rows of a batch should give: codes of a classification (m), values of the others (m × t).
struct HeadTargets {
  std::vector<int> codes;
  Matrix<double> values;

  /// What a target, or the labels, say of those samples.
  void add(const Target& target, std::span<const Index> samples);
  void add(const Labels& labels, std::span<const Index> samples);
  void clear();
};

/// The same, looked at.
struct KnownTargets {
  KnownTargets(const HeadTargets& targets)  // NOLINT(google-explicit-constructor): a view of it
      : codes(targets.codes), values(targets.values.data(), targets.values.rows(), targets.values.cols()) {}
  KnownTargets(std::span<const int> all_codes, ConstMatrixMap<double> all_values)
      : codes(all_codes), values(all_values) {}
  /// Those rows, until the frame of `work` ends.
  [[nodiscard]] KnownTargets select(std::span<const Index> rows, Workspace& work) const;

  std::span<const int> codes;
  ConstMatrixMap<double> values;
};

struct HeadLossOptions {
  SoftmaxOptions softmax = {};
  CoxTies ties = CoxTies::efron;
};

/// The loss of a batch, 0 where nothing is known of it; outputs (m × outputs) are replaced by its gradient.
/// Classification: cross-entropy (softmax.h). Regression: squared error (regression.h). Survival: Cox partial
/// likelihood (cox.h). Multilabel: binary cross-entropy (multilabel.h).
template <class S>
double head_loss(TargetKind kind, const KnownTargets& targets, const HeadLossOptions& options, MatrixRef<S> outputs,
                 Workspace& work);

/// Outputs of a head (m × outputs) ← the same in the units in which views are averaged: log-probabilities of classes;
/// the others as they are (numbers, log hazard, logits of properties).
template <class S>
void head_scores(TargetKind kind, MatrixRef<S> outputs);

/// What head_score measures: "accuracy", "r_squared" (mean over the numbers), "concordance", "auc" (mean over the
/// properties).
std::string_view metric_of(TargetKind kind);
/// How good outputs (m × outputs, as head_scores leaves them) are, larger is better; NaN where nothing can be measured.
double head_score(TargetKind kind, const HeadTargets& targets, ConstMatrixRef<double> outputs);

}  // namespace tocca
