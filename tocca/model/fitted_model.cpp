#include "tocca/model/fitted_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

std::span<const Index> part(std::span<const Index> samples, Index first, Index rows) {
  return samples.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
}

const Standardizer& standardizer(const FittedModel& model, Index view) {
  return model.views[static_cast<std::size_t>(view)].standardizer;
}

Matrix<float> network_rows(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples) {
  Matrix<float> x(static_cast<Index>(samples.size()), views.views[static_cast<std::size_t>(view)].columns());
  standardizer(model, view).read<float>(views, view, samples, 0, x);
  return project<float>(*model.network, view, x);
}

// What a linear classifier reads: projections, or without any the standardised columns.
Matrix<double> linear_rows(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples) {
  Matrix<double> x;
  if (model.network) {
    x = network_rows(model, views, view, samples).cast<double>();
  } else {
    x.resize(static_cast<Index>(samples.size()), views.views[static_cast<std::size_t>(view)].columns());
    standardizer(model, view).read<double>(views, view, samples, 0, x);
  }
  if (model.weights.empty()) return x;
  if (!model.centres.empty()) x.rowwise() -= model.centres[static_cast<std::size_t>(view)];
  const Matrix<double>& w = model.weights[static_cast<std::size_t>(view)];
  Matrix<double> z(x.rows(), w.cols());
  multiply<double>(x, w, z);
  return z;
}

double view_weight(const FittedModel& model, Index view) {
  const auto& weights = model.combination.view_weights;
  return weights.empty() ? 1 : weights[static_cast<std::size_t>(view)];
}

// A mean over the views that each sample has, number by number over those that count.
class Average {
 public:
  Average(Index samples, Index columns, bool (*counts)(double))
      : sum_(Matrix<double>::Zero(samples, columns)), weight_(sum_), counts_(counts) {}

  void add(std::span<const Index> samples, const Matrix<double>& values, double weight) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (Index c = 0; c < values.cols(); ++c) {
        const double value = values(static_cast<Index>(i), c);
        if (!counts_(value)) continue;
        sum_(samples[i], c) += weight * value;
        weight_(samples[i], c) += weight;
      }
    }
  }

  [[nodiscard]] Matrix<double> mean(double where_nothing_counts) const {
    return (weight_.array() > 0).select(sum_.array() / weight_.array(), where_nothing_counts);
  }

 private:
  Matrix<double> sum_, weight_;
  bool (*counts_)(double);
};

// Means of log-probabilities no longer sum to one as probabilities; this makes them do so.
void probabilities_of_logs(Matrix<double>& scores) {
  for (Index i = 0; i < scores.rows(); ++i) {
    const RowVector<double> p = (scores.row(i).array() - scores.row(i).maxCoeff()).exp().matrix();
    scores.row(i) = p / p.sum();
  }
}

// Log-probabilities of classes, or logits of properties, become probabilities.
void to_probabilities(TargetKind kind, Matrix<double>& scores) {
  if (kind == TargetKind::classification) {
    probabilities_of_logs(scores);
  } else {
    scores = (1 + (-scores.array()).exp()).inverse().matrix().eval();
  }
}

// The same for means of probabilities; a class that nobody had an opinion on has none.
void normalize_rows(Matrix<double>& probabilities) {
  for (Index i = 0; i < probabilities.rows(); ++i) {
    const RowVector<double> p = probabilities.row(i).cwiseMax(0);
    if (p.sum() > 0) probabilities.row(i) = p / p.sum();
  }
}

void predict_jointly(const FittedModel& model, const Views& views, const Context& context, Matrix<double>& scores) {
  const std::vector<Index> complete = views.with_every_view();
  if (complete.empty()) return;
  Matrix<double> own = model.joint->scores(joint_rows(model, views, complete, context));
  apply_link(model.joint->link, own);
  if (model.joint->link != Link::none) probabilities_of_logs(own);
  for (std::size_t i = 0; i < complete.size(); ++i) scores.row(complete[i]) = own.row(static_cast<Index>(i));
}

}  // namespace

Index FittedModel::components() const {
  if (!weights.empty()) return weights[0].cols();
  return network ? network->shape.components : 0;
}

Matrix<double> transform(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples,
                         const Context& context) {
  if (!model.projects()) {
    throw InputError("transform", fmt::format("method '{}' has no shared space; fit a CCA or task-optimal CCA method",
                                              model.method));
  }
  Matrix<double> z(static_cast<Index>(samples.size()), model.components());
  context.parallel_rows(z.rows(), [&](Index first, Index rows) {
    const auto chosen = part(samples, first, rows);
    z.middleRows(first, rows) = linear_rows(model, views, view, chosen);
  });
  return z;
}

Matrix<double> private_components(const FittedModel& model, const Views& views, Index view,
                                  std::span<const Index> samples, const Context& context) {
  const Index p = model.network ? model.network->shape.private_components : 0;
  if (p == 0) {
    throw InputError("transform", fmt::format("this '{}' model has no private components; fit it with reconstruction = "
                                              "decoder and private_components",
                                              model.method));
  }
  Matrix<double> parts(static_cast<Index>(samples.size()), p);
  context.parallel_rows(parts.rows(), [&](Index first, Index rows) {
    const auto chosen = part(samples, first, rows);
    Matrix<float> x(rows, views.views[static_cast<std::size_t>(view)].columns());
    standardizer(model, view).read<float>(views, view, chosen, 0, x);
    parts.middleRows(first, rows) = private_parts<float>(*model.network, view, x).cast<double>();
  });
  return parts;
}

bool FittedModel::has_probabilities() const {
  return has_head() || (!classifiers.empty() && classifiers[0].link != Link::none);
}

std::string ModelTarget::name() const { return join(columns, ","); }

Matrix<double> class_scores(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples,
                            const Context& context) {
  if (!model.predicts()) {
    throw InputError(
        "predict", fmt::format("this '{}' model was fitted without class labels; fit it with --labels", model.method));
  }
  Matrix<double> scores(static_cast<Index>(samples.size()), static_cast<Index>(model.classes.size()));
  context.parallel_rows(scores.rows(), [&](Index first, Index rows) {
    const auto chosen = part(samples, first, rows);
    if (model.has_head()) {
      const Matrix<float> z = network_rows(model, views, view, chosen);
      scores.middleRows(first, rows) = head_outputs<float>(*model.network, 0, view, z).cast<double>();
    } else {
      const auto c = model.classifiers.size() == 1 ? 0 : static_cast<std::size_t>(view);
      Matrix<double> own = model.classifiers[c].scores(linear_rows(model, views, view, chosen));
      apply_link(model.classifiers[c].link, own);
      scores.middleRows(first, rows) = own;
    }
  });
  return scores;
}

Matrix<double> joint_rows(const FittedModel& model, const Views& views, std::span<const Index> samples,
                          const Context& context) {
  Index columns = model.view_count() * model.components();
  for (const View& view : views.views) columns += view.columns();
  Matrix<double> rows(static_cast<Index>(samples.size()), columns);
  Index next = 0;
  for (Index v = 0; v < views.count(); ++v) {
    const Index width = views.views[static_cast<std::size_t>(v)].columns();
    standardizer(model, v).read<double>(views, v, samples, 0, rows.middleCols(next, width));
    next += width;
  }
  for (Index v = 0; v < views.count(); ++v) {
    rows.middleCols(next, model.components()) = transform(model, views, v, samples, context);
    next += model.components();
  }
  return rows;
}

Prediction predict(const FittedModel& model, const Views& views, const Context& context) {
  const auto classes = static_cast<Index>(model.classes.size());
  const bool averages_probabilities = model.combination.probabilities && model.has_probabilities();
  Prediction result{std::vector<int>(static_cast<std::size_t>(views.size()), -1), {}};
  // A classifier that met no sample of a class has no opinion on it, which is not a vote against it.
  Average average(views.size(), classes, [](double score) { return score > LinearClassifier::kNeverPredicted; });
  for (Index v = 0; v < views.count(); ++v) {
    const auto samples = samples_with_view(views, v);
    Matrix<double> scores = class_scores(model, views, v, samples, context);
    if (averages_probabilities) {
      scores = scores.unaryExpr([](double s) { return s > LinearClassifier::kNeverPredicted ? std::exp(s) : s; });
    }
    average.add(samples, scores, view_weight(model, v));
  }
  result.scores = average.mean(LinearClassifier::kNeverPredicted);
  if (model.has_probabilities() && !averages_probabilities) probabilities_of_logs(result.scores);
  if (averages_probabilities) normalize_rows(result.scores);
  if (model.joint) predict_jointly(model, views, context, result.scores);
  for (const Index i : views.with_any_view()) {
    Index best = 0;
    result.scores.row(i).maxCoeff(&best);
    result.codes[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return result;
}

Matrix<double> target_scores(const FittedModel& model, std::size_t target, const Views& views, Index view,
                             std::span<const Index> samples, const Context& context) {
  const ModelTarget& what = model.targets.at(target);
  const std::size_t head = model.head_of(target);
  Matrix<double> scores(static_cast<Index>(samples.size()), model.network->shape.heads[head].outputs);
  context.parallel_rows(scores.rows(), [&](Index first, Index rows) {
    const Matrix<float> z = network_rows(model, views, view, part(samples, first, rows));
    scores.middleRows(first, rows) = head_outputs<float>(*model.network, head, view, z).cast<double>();
  });
  if (what.kind == TargetKind::regression) {
    scores.array().rowwise() *= what.scale.array();
    scores.rowwise() += what.mean;
  }
  return scores;
}

Matrix<double> predict_target(const FittedModel& model, std::size_t target, const Views& views,
                              const Context& context) {
  const TargetKind kind = model.targets.at(target).kind;
  const bool probable = kind == TargetKind::classification || kind == TargetKind::multilabel;
  const bool averages_probabilities = probable && model.combination.probabilities;
  Average average(views.size(), model.network->shape.heads[model.head_of(target)].outputs,
                  [](double score) { return !std::isnan(score); });
  for (Index v = 0; v < views.count(); ++v) {
    const auto samples = samples_with_view(views, v);
    Matrix<double> scores = target_scores(model, target, views, v, samples, context);
    if (averages_probabilities) to_probabilities(kind, scores);
    average.add(samples, scores, view_weight(model, v));
  }
  Matrix<double> mean = average.mean(std::numeric_limits<double>::quiet_NaN());
  if (probable && !averages_probabilities) to_probabilities(kind, mean);
  return mean;
}

std::vector<Index> samples_with_view(const Views& views, Index view) { return samples_with_views(views, view, view); }

std::vector<Index> samples_with_views(const Views& views, Index u, Index v) {
  std::vector<Index> samples;
  for (Index i = 0; i < views.size(); ++i) {
    if (views.views[static_cast<std::size_t>(u)].has(i) && views.views[static_cast<std::size_t>(v)].has(i)) {
      samples.push_back(i);
    }
  }
  return samples;
}

}  // namespace tocca
