#include "tocca/model/fitted_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
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
  standardizer(model, view).read<float>(views, view, samples, x);
  return project<float>(*model.network, view, x);
}

// What a linear classifier reads: projections, or without any the standardised columns.
Matrix<double> linear_rows(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples) {
  Matrix<double> x;
  if (model.network) {
    x = network_rows(model, views, view, samples).cast<double>();
  } else {
    x.resize(static_cast<Index>(samples.size()), views.views[static_cast<std::size_t>(view)].columns());
    standardizer(model, view).read<double>(views, view, samples, x);
  }
  if (model.weights.empty()) return x;
  if (!model.centres.empty()) x.rowwise() -= model.centres[static_cast<std::size_t>(view)];
  const Matrix<double>& w = model.weights[static_cast<std::size_t>(view)];
  Matrix<double> z(x.rows(), w.cols());
  multiply<double>(x, w, z);
  return z;
}

std::vector<bool> without_views(const Views& views) {
  std::vector<bool> absent(static_cast<std::size_t>(views.size()));
  for (Index i = 0; i < views.size(); ++i) {
    absent[static_cast<std::size_t>(i)] =
        std::none_of(views.views.begin(), views.views.end(), [&](const View& view) { return view.has(i); });
  }
  return absent;
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

Matrix<double> class_scores(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples,
                            const Context& context) {
  if (!model.predicts()) {
    throw InputError("predict",
                     fmt::format("this '{}' model was fitted without labels; fit it with --labels", model.method));
  }
  Matrix<double> scores(static_cast<Index>(samples.size()), static_cast<Index>(model.classes.size()));
  context.parallel_rows(scores.rows(), [&](Index first, Index rows) {
    const auto chosen = part(samples, first, rows);
    if (model.has_head()) {
      const Matrix<float> z = network_rows(model, views, view, chosen);
      scores.middleRows(first, rows) = head_log_probabilities<float>(*model.network, view, z).cast<double>();
    } else {
      const auto c = model.classifiers.size() == 1 ? 0 : static_cast<std::size_t>(view);
      scores.middleRows(first, rows) = model.classifiers[c].scores(linear_rows(model, views, view, chosen));
    }
  });
  return scores;
}

Prediction predict(const FittedModel& model, const Views& views, const Context& context) {
  const Index n = views.size();
  Prediction result{std::vector<int>(static_cast<std::size_t>(n), -1),
                    Matrix<double>::Zero(n, static_cast<Index>(model.classes.size()))};
  // A classifier that met no sample of a class has no opinion on it, which is not a vote against it.
  const auto has_opinion = [](double score) { return score > LinearClassifier::kNeverPredicted; };
  Matrix<double> votes = Matrix<double>::Zero(n, result.scores.cols());
  for (Index v = 0; v < views.count(); ++v) {
    const auto samples = samples_with_view(views, v);
    const Matrix<double> scores = class_scores(model, views, v, samples, context);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (Index c = 0; c < scores.cols(); ++c) {
        const double score = scores(static_cast<Index>(i), c);
        if (!has_opinion(score)) continue;
        result.scores(samples[i], c) += score;
        votes(samples[i], c) += 1;
      }
    }
  }
  const std::vector<bool> absent = without_views(views);
  for (Index i = 0; i < n; ++i) {
    if (absent[static_cast<std::size_t>(i)]) continue;
    for (Index c = 0; c < votes.cols(); ++c) {
      double& score = result.scores(i, c);
      score = votes(i, c) > 0 ? score / votes(i, c) : LinearClassifier::kNeverPredicted;
    }
    Index best = 0;
    result.scores.row(i).maxCoeff(&best);
    result.codes[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return result;
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
