#include "cli/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/report/svg_scatter.h"

namespace tocca::cli {
namespace {

constexpr std::size_t kMostPoints = 2000;

// First two coordinates of a view in the space of the first pair, where the view belongs to it.
Matrix<double> plane(const FittedModel& model, Index view, const Matrix<double>& z) {
  if (model.pairs.empty()) return z.leftCols(2);
  const CanonicalPair& pair = model.pairs.front();
  if (pair.correlations.size() < 2 || (view != pair.u && view != pair.v)) return z.leftCols(2);
  const bool first = view == pair.u;
  return (z.rowwise() - (first ? pair.mean_u : pair.mean_v)) * (first ? pair.weights_u : pair.weights_v).leftCols(2);
}

}  // namespace

std::vector<Figure> space_figures(const FittedModel& model, const Dataset& data, const std::string& what,
                                  const Context& context) {
  std::vector<Figure> figures;
  if (!model.projects() || model.components() < 2) return figures;
  for (Index v = 0; v < model.view_count(); ++v) {
    std::vector<Index> samples = samples_with_view(data.views, v);
    samples.resize(std::min(samples.size(), kMostPoints));
    if (samples.empty()) continue;
    const Labels labels = data.labels.codes.empty() ? Labels{} : data.labels.select(samples);
    const std::string& view = model.views[static_cast<std::size_t>(v)].name;
    const Matrix<double> points = plane(model, v, transform(model, data.views, v, samples, context));
    figures.push_back({fmt::format("{}, {}", view, what),
                       svg_scatter(points, labels.codes, labels.classes, fmt::format("Shared space, {}", view))});
  }
  return figures;
}

}  // namespace tocca::cli
