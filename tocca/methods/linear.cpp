#include "tocca/methods/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tocca/core/error.h"
#include "tocca/evaluate/lda.h"
#include "tocca/evaluate/logistic.h"
#include "tocca/evaluate/svm.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/cca.h"
#include "tocca/linalg/shrinkage.h"
#include "tocca/linalg/sparse_pls.h"
#include "tocca/methods/resolve.h"

namespace tocca {
namespace {

Matrix<double> standardized_rows(const FittedModel& model, const Dataset& data, Index view,
                                 const std::vector<Index>& samples) {
  const auto v = static_cast<std::size_t>(view);
  Matrix<double> x(static_cast<Index>(samples.size()), data.views.views[v].columns());
  model.views[v].standardizer.read<double>(data.views, view, samples, 0, x);
  return x;
}

void tell_ridges(const std::vector<double>& ridges, const Context& context) {
  std::string text;
  for (const double ridge : ridges) text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", ridge);
  context.info(fmt::format("shrinkage = ledoit-wolf: the ridges of the views are {}", text));
}

struct CcaSettings {
  CcaOptions options;
  bool shrinks = false;  // the ridges are estimated
};

CcaSettings cca_options(const Method& method, const Options& options) {
  return {{.components = options.n_components > 0 ? options.n_components : kDefaultComponents,
           .ridge = method.ridge ? options.ridge : 0},
          method.ridge && options.shrinkage == "ledoit-wolf"};
}

// Standardised rows of both views, for what cannot do with their moments.
std::vector<Matrix<double>> both_views(const FittedModel& model, const Dataset& training,
                                       const std::vector<Index>& samples, const Context& context) {
  std::vector<Matrix<double>> rows(2);
  context.parallel(
      2, [&](Index v) { rows[static_cast<std::size_t>(v)] = standardized_rows(model, training, v, samples); });
  return rows;
}

CcaSolution solve_cca(FittedModel& model, const Dataset& training, const std::vector<Index>& samples,
                      CcaSettings settings, const std::optional<JointMoments>& columns, const Context& context) {
  const Index d1 = training.views.views[0].columns();
  const Index d2 = training.views.views[1].columns();
  const bool wide = static_cast<Index>(samples.size()) <= d1 + d2;
  std::vector<Matrix<double>> rows;
  if (wide || settings.shrinks) rows = both_views(model, training, samples, context);
  if (settings.shrinks) {
    settings.options.ridge = ledoit_wolf(rows[0]).ridge(rows[0].rows());
    settings.options.ridge2 = ledoit_wolf(rows[1]).ridge(rows[1].rows());
    tell_ridges({settings.options.ridge, *settings.options.ridge2}, context);
  }
  if (wide) return cca(rows[0], rows[1], settings.options, context);
  rows.clear();
  const JointMoments moments =
      columns ? standardize_moments(*columns, model) : standardized_moments(model, training.views, samples, context);
  const Matrix<double>& s = moments.covariance;
  CcaSolution solution = cca_from_covariances(s.topLeftCorner(d1, d1), s.bottomRightCorner(d2, d2),
                                              s.topRightCorner(d1, d2), settings.options, context);
  if (solution.correlations.size() > 0) model.pairs.push_back(canonical_pair_of(moments, solution));
  return solution;
}

// All views' rows stacked, for labelled samples.
struct Stacked {
  Matrix<double> rows;
  std::vector<int> codes;
  std::vector<Index> groups;  // of each row
};

Stacked stack_projections(const FittedModel& model, const Dataset& training, const Context& context) {
  std::vector<Matrix<double>> parts;
  Stacked all;
  std::vector<Index> rows_of;
  Index total = 0;
  for (Index v = 0; v < training.views.count(); ++v) {
    const auto samples = samples_with_view(training.views, v);
    parts.push_back(transform(model, training.views, v, samples, context));
    rows_of.insert(rows_of.end(), samples.begin(), samples.end());
    for (const Index sample : samples) all.codes.push_back(training.labels.codes[static_cast<std::size_t>(sample)]);
    total += parts.back().rows();
  }
  all.groups = groups_of(training, rows_of);
  all.rows.resize(total, model.components());
  Index row = 0;
  for (const auto& part : parts) {
    all.rows.middleRows(row, part.rows()) = part;
    row += part.rows();
  }
  return all;
}

std::vector<Index> complete_in_all(const Dataset& training) {
  std::vector<Index> samples = training.views.with_every_view();
  if (samples.size() >= 3) return samples;
  throw InputError(
      "fit", fmt::format("samples with all {} views: got {}, need at least 3", training.views.count(), samples.size()));
}

std::vector<Index> complete_and_labelled(const Dataset& training) {
  std::vector<Index> samples = complete_in_all(training);
  std::erase_if(samples, [&](Index s) { return training.labels.codes[static_cast<std::size_t>(s)] < 0; });
  return samples;
}

LinearClassifier fit_classifier(Classifier kind, const Stacked& data, int class_count, const Options& options,
                                const Rng& rng, const Context& context) {
  CostOptions costs;
  if (options.svm_cost > 0) costs.costs = {options.svm_cost};
  costs.groups = data.groups;
  switch (kind) {
    case Classifier::lda:
      return fit_lda(data.rows, data.codes, class_count);
    case Classifier::logistic:
      return fit_logistic(data.rows, data.codes, class_count, costs, rng, context);
    default:
      return fit_svm(data.rows, data.codes, class_count, costs, rng, context);
  }
}

// As many components as tell the classes apart.
Index sparse_components(const std::vector<int>& codes) {
  return static_cast<Index>(std::set<int>(codes.begin(), codes.end()).size()) - 1;
}

// x B + b of a view's columns as a classifier of its variates x W. Q, with B = W Q, is the regression of what B
// predicts on the variates, which are orthogonal.
LinearClassifier variate_classifier(const SparsePlsView& view, const Matrix<double>& rows,
                                    const std::vector<int>& classes, Index class_count) {
  Matrix<double> predicted(rows.rows(), view.coefficients.cols());
  multiply<double>(Matrix<double>(rows.rowwise() - view.mean), view.coefficients, predicted);
  LinearClassifier classifier{Matrix<double>::Zero(view.weights.cols(), class_count),
                              RowVector<double>::Constant(class_count, LinearClassifier::kNeverPredicted), 0,
                              Link::none};
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto from = static_cast<Index>(c);
    classifier.bias(classes[c]) = view.intercept(from);
    for (Index k = 0; k < view.variates.cols(); ++k) {
      const double length = view.variates.col(k).squaredNorm();
      if (length > 0) classifier.weights(k, classes[c]) = view.variates.col(k).dot(predicted.col(from)) / length;
    }
  }
  return classifier;
}

// Directions that a covariance does not show apart from rounding are no message of their own where there are fewer
// samples than columns.
void tell_null_directions(const FittedModel& model, const CcaSolution& solution, Index samples,
                          const Context& context) {
  const Index ranks[] = {solution.rank1, solution.rank2};
  for (std::size_t v = 0; v < 2; ++v) {
    const Index most = std::min(static_cast<Index>(model.views[v].features.size()), samples - 1);
    if (ranks[v] >= most) continue;
    context.info(
        fmt::format("view '{}': {} of {} directions are left out, which vary less than 1e-5 of the largest: "
                    "columns that are constant, or follow from others",
                    model.views[v].name, most - ranks[v], most));
  }
}

std::string told_rank(const FittedModel& model, const CcaSolution& solution, Index wanted) {
  const auto got = static_cast<Index>(solution.correlations.size());
  if (wanted == 0 || got >= wanted) return {};
  const bool first = solution.rank1 <= solution.rank2;
  return fmt::format("n_components: got {}, lowered to {}, the rank of view '{}'", wanted, got,
                     model.views[first ? 0 : 1].name);
}

}  // namespace

std::string fit_linear_cca(FittedModel& model, const Method& method, const Dataset& training, const Options& options,
                           const std::optional<JointMoments>& columns, const Context& context) {
  const auto samples = samples_with_views(training.views, 0, 1);
  if (samples.size() < 3) {
    throw InputError("fit", fmt::format("samples with both views '{}' and '{}': got {}, need at least 3",
                                        model.views[0].name, model.views[1].name, samples.size()));
  }
  const CcaSolution solution = solve_cca(model, training, samples, cca_options(method, options), columns, context);
  model.weights = {solution.weights1, solution.weights2};
  if (training.labels.labelled() > 0) add_projection_classifier(model, method, training, options, context);
  tell_null_directions(model, solution, static_cast<Index>(samples.size()), context);
  const std::string told = told_rank(model, solution, options.n_components);
  if (!told.empty()) context.warn(told);
  return told;
}

std::string fit_linear_multiview(FittedModel& model, const Method& method, const Dataset& training,
                                 const Options& options, const Context& context) {
  const std::vector<Index> samples = complete_in_all(training);
  std::vector<Matrix<double>> rows;
  for (Index v = 0; v < training.views.count(); ++v) rows.push_back(standardized_rows(model, training, v, samples));
  MultiviewOptions multiview{.components = options.n_components > 0 ? options.n_components : kDefaultComponents,
                             .ridges = {options.ridge}};
  if (options.shrinkage == "ledoit-wolf") {
    multiview.ridges.clear();
    for (const Matrix<double>& view : rows) multiview.ridges.push_back(ledoit_wolf(view).ridge(view.rows()));
    tell_ridges(multiview.ridges, context);
  }
  const std::vector<int> codes =
      training.labels.codes.empty() ? std::vector<int>(samples.size(), -1) : training.labels.select(samples).codes;
  // Beyond the smallest rank (or the classes less one) components relate only some of the views.
  const Index most = method.solve(rows, codes, {.components = 0}).eigenvalues.size();
  if (most == 0) {
    throw InputError("fit", fmt::format("method '{}': a view is constant on the {} samples with all views that it is "
                                        "fitted on; leave the view out, or give more samples",
                                        method.name, samples.size()));
  }
  multiview.components = std::min(multiview.components, most);
  MultiviewSolution solution = method.solve(rows, codes, multiview);
  model.weights = std::move(solution.weights);
  if (training.labels.labelled() > 0) add_projection_classifier(model, method, training, options, context);
  const Index got = model.components();
  if (options.n_components == 0 || got >= options.n_components) return {};
  const std::string told = fmt::format("n_components: got {}, lowered to {}, as many as method '{}' has here",
                                       options.n_components, got, method.name);
  context.warn(told);
  return told;
}

namespace {

std::vector<Index> kept_columns(const Views& views, const Options& options) {
  const std::vector<double> numbers = parse_numbers("keep", options.keep, 0);
  if (numbers.size() > 1 && static_cast<Index>(numbers.size()) != views.count()) {
    throw InputError("options", fmt::format("keep: got {} numbers for {} views, need one for all, or one for each",
                                            numbers.size(), views.count()));
  }
  std::vector<Index> keep;
  for (std::size_t v = 0; v < views.views.size(); ++v) {
    const double number = numbers.empty() ? 0 : numbers[numbers.size() == 1 ? 0 : v];
    const View& view = views.views[v];
    if (number != std::floor(number) || number > static_cast<double>(view.columns())) {
      throw InputError("options",
                       fmt::format("keep: got {} for view '{}', need a whole number up to its {} columns, or "
                                   "0 for all",
                                   number, view.name, view.columns()));
    }
    keep.push_back(static_cast<Index>(number));
  }
  return keep;
}

}  // namespace

std::string fit_sparse_pls(FittedModel& model, const Dataset& training, const Options& options,
                           const Context& context) {
  const std::vector<Index> samples = complete_and_labelled(training);
  std::vector<Matrix<double>> rows;
  for (Index v = 0; v < training.views.count(); ++v) rows.push_back(standardized_rows(model, training, v, samples));
  const std::vector<int> codes = training.labels.select(samples).codes;
  const Index most = std::min(sparse_components(codes), static_cast<Index>(samples.size()) - 1);
  SparsePlsOptions how{.components = options.n_components > 0 ? options.n_components : std::max(most, Index{1})};
  how.keep = kept_columns(training.views, options);
  how.design = options.design;
  const SparsePlsSolution solution = sparse_pls(rows, codes, how);
  for (std::size_t v = 0; v < solution.views.size(); ++v) {
    const SparsePlsView& view = solution.views[v];
    model.weights.push_back(view.weights);
    model.classifiers.push_back(variate_classifier(view, rows[v], solution.classes, training.labels.class_count()));
    model.combination.view_weights.push_back(std::max(view.outcome_correlations.cwiseAbs().mean(), 1e-6));
  }
  std::string told;
  for (std::size_t k = 0; k < solution.converged.size(); ++k) {
    if (solution.converged[k]) continue;
    told = fmt::format("component {} did not settle in {} iterations", k + 1, solution.iterations[k]);
    context.warn(told);
  }
  return told;
}

void add_joint_classifier(FittedModel& model, const Dataset& training, const Context& context) {
  if (!model.projects() || training.labels.labelled() == 0) {
    throw InputError("options", "prediction = joint: needs class labels, and a method with projections; take tocca-w");
  }
  const std::vector<Index> samples = complete_and_labelled(training);
  model.joint = fit_lda(joint_rows(model, training.views, samples, context), training.labels.select(samples).codes,
                        static_cast<int>(training.labels.class_count()));
}

void require_complete_samples(const Dataset& training) { complete_in_all(training); }

void add_final_cca(FittedModel& model, const Dataset& training, const Options& options, const Context& context) {
  const std::vector<Index> samples = complete_in_all(training);
  std::vector<Matrix<double>> z;
  std::vector<RowVector<double>> centres;
  for (Index v = 0; v < training.views.count(); ++v) {
    z.push_back(transform(model, training.views, v, samples, context));
    centres.emplace_back(z.back().colwise().mean());
  }
  MultiviewSolution solution = mcca(z, {.ridges = {options.whitening_epsilon}});
  model.weights = std::move(solution.weights);
  model.centres = std::move(centres);
}

void add_projection_classifier(FittedModel& model, const Method& method, const Dataset& training,
                               const Options& options, const Context& context) {
  const auto classes = static_cast<int>(training.labels.class_count());
  const Rng rng = Rng(options.seed).split("svm");
  if (model.has_shared_space()) {
    const Stacked all = stack_projections(model, training, context);
    model.classifiers.push_back(fit_classifier(method.classifier, all, classes, options, rng, context));
    return;
  }
  for (Index v = 0; v < training.views.count(); ++v) {  // spaces that have nothing to do with each other
    const auto samples = samples_with_view(training.views, v);
    const Stacked own{transform(model, training.views, v, samples, context), training.labels.select(samples).codes,
                      groups_of(training, samples)};
    model.classifiers.push_back(fit_classifier(method.classifier, own, classes, options, rng, context));
  }
}

void add_view_classifiers(FittedModel& model, const Method& method, const Dataset& training, const Options& options,
                          const Context& context) {
  for (Index v = 0; v < training.views.count(); ++v) {
    const auto samples = samples_with_view(training.views, v);
    const Labels labels = training.labels.select(samples);
    const Stacked view{standardized_rows(model, training, v, samples), labels.codes, groups_of(training, samples)};
    model.classifiers.push_back(fit_classifier(method.classifier, view, static_cast<int>(labels.class_count()), options,
                                               Rng(options.seed).split("svm", static_cast<std::uint64_t>(v)), context));
  }
}

}  // namespace tocca
