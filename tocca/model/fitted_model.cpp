#include "tocca/model/fitted_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/denormals.h"
#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {
namespace {

constexpr Index kBlock = 256;

// Calls work(first, rows) for fixed blocks of rows, in parallel.
void for_blocks(Index n, const Context& context, const std::function<void(Index, Index)>& work) {
  context.parallel((n + kBlock - 1) / kBlock, [&](Index block) {
    const FlushDenormals flush;
    const Index first = block * kBlock;
    work(first, std::min(kBlock, n - first));
  });
}

std::span<const Index> part(std::span<const Index> samples, Index first, Index rows) {
  return samples.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
}

const Standardizer& standardizer(const FittedModel& model, Index view) {
  return model.views[static_cast<std::size_t>(view)].standardizer;
}

Matrix<double> linear_rows(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples) {
  Matrix<double> x(static_cast<Index>(samples.size()), views.views[static_cast<std::size_t>(view)].columns());
  standardizer(model, view).read<double>(views, view, samples, x);
  if (model.weights.empty()) return x;
  const Matrix<double>& w = model.weights[static_cast<std::size_t>(view)];
  Matrix<double> z(x.rows(), w.cols());
  multiply<double>(x, w, z);
  return z;
}

Matrix<float> network_rows(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples) {
  Matrix<float> x(static_cast<Index>(samples.size()), views.views[static_cast<std::size_t>(view)].columns());
  standardizer(model, view).read<float>(views, view, samples, x);
  return project<float>(*model.network, view, x);
}

}  // namespace

Index FittedModel::components() const {
  if (network) return network->shape.components;
  return weights.empty() ? 0 : weights[0].cols();
}

Matrix<double> transform(const FittedModel& model, const Views& views, Index view, std::span<const Index> samples,
                         const Context& context) {
  if (!model.projects()) {
    throw InputError("transform", fmt::format("method '{}' has no shared space; fit a CCA or task-optimal CCA method",
                                              model.method));
  }
  Matrix<double> z(static_cast<Index>(samples.size()), model.components());
  for_blocks(z.rows(), context, [&](Index first, Index rows) {
    const auto chosen = part(samples, first, rows);
    if (model.network) {
      z.middleRows(first, rows) = network_rows(model, views, view, chosen).cast<double>();
    } else {
      z.middleRows(first, rows) = linear_rows(model, views, view, chosen);
    }
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
  for_blocks(scores.rows(), context, [&](Index first, Index rows) {
    const auto chosen = part(samples, first, rows);
    if (model.network) {
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
  Vector<double> present = Vector<double>::Zero(n);
  for (Index v = 0; v < views.count(); ++v) {
    const auto samples = samples_with_view(views, v);
    const Matrix<double> scores = class_scores(model, views, v, samples, context);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      result.scores.row(samples[i]) += scores.row(static_cast<Index>(i));
      present(samples[i]) += 1;
    }
  }
  for (Index i = 0; i < n; ++i) {
    if (present(i) == 0) continue;
    result.scores.row(i) /= present(i);
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
