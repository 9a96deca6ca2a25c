#include "tocca/model/head.h"

#include <cmath>
#include <iterator>
#include <limits>

#include "tocca/metrics/classification.h"
#include "tocca/metrics/columns.h"
#include "tocca/metrics/ranking.h"
#include "tocca/metrics/regression.h"
#include "tocca/metrics/survival.h"
#include "tocca/model/linear_classifier.h"
#include "tocca/ops/multilabel.h"
#include "tocca/ops/regression.h"

namespace tocca {
namespace {

template <class S>
double cox_of_values(const KnownTargets& targets, const HeadLossOptions& options, MatrixRef<S> outputs,
                     Workspace& work) {
  const Workspace::Frame frame(work);
  const auto m = static_cast<std::size_t>(targets.values.rows());
  const std::span<double> times = work.array<double>(m);
  const std::span<int> events = work.array<int>(m);
  column_values(targets.values, 0, times);
  column_flags(targets.values, 1, events);
  return cox_loss<S>(times, events, options.ties, outputs, work);
}

double accuracy_of(const HeadTargets& targets, ConstMatrixRef<double> outputs) {
  return accuracy(largest_column(outputs), targets.codes);
}

double concordance_of(const HeadTargets& targets, ConstMatrixRef<double> outputs) {
  return concordance_index(column_values(outputs, 0), column_values(targets.values, 0),
                           column_flags(targets.values, 1));
}

// Over the columns in which it can be measured.
double mean_r_squared(const HeadTargets& targets, ConstMatrixRef<double> outputs) {
  double sum = 0;
  int measured = 0;
  for (Index c = 0; c < outputs.cols(); ++c) {
    const double value = r_squared(column_values(outputs, c), column_values(targets.values, c));
    if (std::isnan(value)) continue;
    sum += value;
    ++measured;
  }
  return measured > 0 ? sum / measured : std::numeric_limits<double>::quiet_NaN();
}

double mean_area(const HeadTargets& targets, ConstMatrixRef<double> outputs) {
  return macro_area_under_roc(outputs, targets.values);
}

struct Scoring {
  TargetKind kind;
  std::string_view metric;
  double (*score)(const HeadTargets&, ConstMatrixRef<double>);
};

constexpr Scoring kScoring[] = {{TargetKind::classification, "accuracy", accuracy_of},
                                {TargetKind::regression, "r_squared", mean_r_squared},
                                {TargetKind::survival, "concordance", concordance_of},
                                {TargetKind::multilabel, "auc", mean_area}};

const Scoring& scoring_of(TargetKind kind) {
  const Scoring* row = std::begin(kScoring);
  while (row->kind != kind) ++row;
  return *row;
}

template <class S>
using Loss = double (*)(const KnownTargets&, const HeadLossOptions&, MatrixRef<S>, Workspace&);

template <class S>
struct Row {
  TargetKind kind;
  Loss<S> loss;
  bool log_softmax = false;
};

template <class S>
const Row<S>& row_of(TargetKind kind) {
  static const Row<S> table[] = {
      {TargetKind::classification,
       [](const KnownTargets& t, const HeadLossOptions& o, MatrixRef<S> outputs, Workspace&) {
         return softmax_cross_entropy<S>(t.codes, o.softmax, outputs);
       },
       true},
      {TargetKind::regression, [](const KnownTargets& t, const HeadLossOptions&, MatrixRef<S> outputs,
                                  Workspace&) { return mean_squared_error<S>(t.values, outputs); }},
      {TargetKind::survival, cox_of_values<S>},
      {TargetKind::multilabel, [](const KnownTargets& t, const HeadLossOptions&, MatrixRef<S> outputs, Workspace&) {
         return binary_cross_entropy<S>(t.values, outputs);
       }}};
  const Row<S>* row = std::begin(table);
  while (row->kind != kind) ++row;
  return *row;
}

}  // namespace

Index outputs_for(TargetKind kind, std::size_t columns, std::size_t classes) {
  switch (kind) {
    case TargetKind::classification:
      return static_cast<Index>(classes);
    case TargetKind::survival:
      return 1;
    default:
      return static_cast<Index>(columns);
  }
}

std::vector<HeadShape> class_heads(Index classes) {
  if (classes == 0) return {};
  return {{TargetKind::classification, classes, -1}};
}

void HeadTargets::add(const Labels& labels, std::span<const Index> samples) {
  for (const Index sample : samples) {
    codes.push_back(labels.codes.empty() ? -1 : labels.codes[static_cast<std::size_t>(sample)]);
  }
}

void HeadTargets::add(const Target& target, std::span<const Index> samples) {
  if (target.kind == TargetKind::classification) {
    add(target.labels, samples);
    return;
  }
  const Index before = values.rows();
  values.conservativeResize(before + static_cast<Index>(samples.size()), target.values.cols());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    values.row(before + static_cast<Index>(i)) = target.values.row(samples[i]);
  }
}

void HeadTargets::clear() {
  codes.clear();
  values.resize(0, values.cols());
}

KnownTargets KnownTargets::select(std::span<const Index> rows, Workspace& work) const {
  const std::span<int> some_codes = work.array<int>(codes.empty() ? 0 : rows.size());
  for (std::size_t i = 0; i < some_codes.size(); ++i) some_codes[i] = codes[static_cast<std::size_t>(rows[i])];
  MatrixMap<double> some = work.matrix<double>(values.cols() > 0 ? static_cast<Index>(rows.size()) : 0, values.cols());
  for (Index i = 0; i < some.rows(); ++i) some.row(i) = values.row(rows[static_cast<std::size_t>(i)]);
  return {some_codes, {some.data(), some.rows(), some.cols()}};
}

template <class S>
double head_loss(TargetKind kind, const KnownTargets& targets, const HeadLossOptions& options, MatrixRef<S> outputs,
                 Workspace& work) {
  return row_of<S>(kind).loss(targets, options, outputs, work);
}

template <class S>
void head_scores(TargetKind kind, MatrixRef<S> outputs) {
  if (row_of<S>(kind).log_softmax) log_softmax<S>(outputs);
}

std::string_view metric_of(TargetKind kind) { return scoring_of(kind).metric; }

double head_score(TargetKind kind, const HeadTargets& targets, ConstMatrixRef<double> outputs) {
  return scoring_of(kind).score(targets, outputs);
}

template double head_loss<float>(TargetKind, const KnownTargets&, const HeadLossOptions&, MatrixRef<float>, Workspace&);
template double head_loss<double>(TargetKind, const KnownTargets&, const HeadLossOptions&, MatrixRef<double>,
                                  Workspace&);
template void head_scores<float>(TargetKind, MatrixRef<float>);
template void head_scores<double>(TargetKind, MatrixRef<double>);

}  // namespace tocca
