#include "tocca/evaluate/cost_search.h"

#include <fmt/format.h>
#include <linear.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/splits.h"
#include "tocca/linalg/blas.h"
#include "tocca/linalg/checks.h"
#include "tocca/linalg/labelled.h"

namespace tocca {

namespace detail {
namespace {

constexpr double kCostWithoutSearch = 1;

/// Comparing costs needs less exact solutions than the final fit: half the time, the same accuracy to 0.001.
double search_tolerance(double tolerance) { return std::max(tolerance, std::min(10 * tolerance, 0.1)); }

/// Rows as LIBLINEAR reads them: pairs of index and value, the bias feature last, ended by index −1.
class SparseRows {
 public:
  explicit SparseRows(ConstMatrixRef<double> x)
      : stride_(static_cast<std::size_t>(x.cols() + 2)), nodes_(static_cast<std::size_t>(x.rows()) * stride_) {
    feature_node* node = nodes_.data();
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index j = 0; j < x.cols(); ++j) *node++ = {static_cast<int>(j + 1), x(i, j)};
      *node++ = {static_cast<int>(x.cols() + 1), 1.0};
      *node++ = {-1, 0.0};
    }
  }
  feature_node* row(std::size_t i) { return nodes_.data() + i * stride_; }

 private:
  std::size_t stride_;
  std::vector<feature_node> nodes_;
};

/// What one set of classifiers is trained on and, in cross-validation, tried on.
struct Fold {
  std::vector<feature_node*> rows;
  std::vector<int> classes;
  Matrix<double> held_out;
  std::vector<int> held_out_classes;
  Matrix<double> weights;  ///< (classifiers × d + 1)
};

/// What is asked for, by whom.
struct CostSearch {
  std::string_view name;
  MarginLoss loss;
  const CostOptions& options;
};

/// How every fold's classifiers are trained.
struct Training {
  MarginLoss loss;
  double cost;
  double tolerance;
};

/// One class against the rest. `weights` (d + 1) are where the solver starts, and the result.
void train_binary(Fold& fold, Index classifier, int positive, const Training& training) {
  auto weights = fold.weights.row(classifier);
  // LIBLINEAR takes the only class there is for the positive one. Whole groups held out can leave a class without rows.
  if (std::find(fold.classes.begin(), fold.classes.end(), positive) == fold.classes.end()) {
    weights.setZero();
    weights(weights.size() - 1) = -1;
    return;
  }
  std::vector<double> signs(fold.classes.size());
  std::transform(fold.classes.begin(), fold.classes.end(), signs.begin(),
                 [&](int c) { return c == positive ? 1 : -1; });
  const problem data{static_cast<int>(signs.size()), static_cast<int>(weights.size()), signs.data(), fold.rows.data(),
                     -1};
  parameter how{};
  // The primal solvers draw no random numbers and can start from given weights.
  how.solver_type = training.loss == MarginLoss::logistic ? L2R_LR : L2R_L2LOSS_SVC;
  how.eps = training.tolerance;
  how.C = training.cost;
  how.init_sol = weights.data();
  const auto free_model = [](model* m) { free_and_destroy_model(&m); };
  const std::unique_ptr<model, decltype(free_model)> fitted(train(&data, &how), free_model);
  // Of the labels −1 and +1 LIBLINEAR keeps the weights of +1, whichever it meets first.
  weights = RowVector<double>::Map(fitted->w, weights.size());
}

/// Labelled samples and the classes that occur among them.
struct Samples {
  Matrix<double> x;
  std::vector<int> y;
  std::vector<Index> groups;  ///< of each row
  std::vector<int> present;   ///< ascending
  int class_count = 0;

  /// The two classifiers of two classes mirror each other.
  [[nodiscard]] Index classifiers() const { return present.size() == 2 ? 1 : static_cast<Index>(present.size()); }
  /// Groups in the class that has fewest of them.
  [[nodiscard]] Index smallest_class() const {
    std::map<int, std::set<Index>> members;
    for (std::size_t i = 0; i < y.size(); ++i) members[y[i]].insert(groups[i]);
    std::size_t smallest = y.size();
    for (const auto& [c, of_class] : members) smallest = std::min(smallest, of_class.size());
    return static_cast<Index>(smallest);
  }
  /// No group has rows of several classes.
  [[nodiscard]] bool one_class_each() const {
    std::map<Index, int> classes;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (classes.emplace(groups[i], y[i]).first->second != y[i]) return false;
    }
    return true;
  }
};

Samples labelled_samples(ConstMatrixRef<double> x, LabelledRows labelled, int class_count,
                         const std::vector<Index>& groups) {
  Samples samples{x(labelled.rows, Eigen::all), std::move(labelled.classes), std::move(labelled.rows),
                  std::move(labelled.present), class_count};
  if (!groups.empty())
    for (Index& group : samples.groups) group = groups[static_cast<std::size_t>(group)];
  return samples;
}

/// Trains every fold's classifiers, starting from the weights they have.
void train_folds(std::vector<Fold>& folds, const Samples& samples, const Training& training, const Context& context) {
  const Index each = samples.classifiers();
  context.parallel(static_cast<Index>(folds.size()) * each, [&](Index task) {
    train_binary(folds[static_cast<std::size_t>(task / each)], task % each,
                 samples.present[static_cast<std::size_t>(task % each)], training);
  });
}

LinearClassifier classifier_of(const Fold& fold, const Samples& samples, double cost) {
  const Index d = samples.x.cols();
  LinearClassifier result{Matrix<double>::Zero(d, samples.class_count),
                          RowVector<double>::Constant(samples.class_count, LinearClassifier::kNeverPredicted), cost,
                          Link::none};
  for (std::size_t c = 0; c < samples.present.size(); ++c) {
    const auto row = std::min(static_cast<Index>(c), samples.classifiers() - 1);
    const double sign = row == static_cast<Index>(c) ? 1 : -1;
    const RowVector<double> w = sign * fold.weights.row(row);
    result.weights.col(samples.present[c]) = w.head(d).transpose();
    result.bias(samples.present[c]) = w(d);
  }
  return result;
}

/// Holds out the samples whose fold is f.
Fold make_fold(const Samples& samples, SparseRows& sparse, const std::vector<int>& fold_of, int f) {
  Fold fold;
  fold.weights = Matrix<double>::Zero(samples.classifiers(), samples.x.cols() + 1);
  fold.held_out.resize(std::count(fold_of.begin(), fold_of.end(), f), samples.x.cols());
  for (std::size_t i = 0; i < samples.y.size(); ++i) {
    if (fold_of[i] == f) {
      fold.held_out.row(static_cast<Index>(fold.held_out_classes.size())) = samples.x.row(static_cast<Index>(i));
      fold.held_out_classes.push_back(samples.y[i]);
    } else {
      fold.rows.push_back(sparse.row(i));
      fold.classes.push_back(samples.y[i]);
    }
  }
  return fold;
}

/// Held-out samples predicted right, over all folds.
Index count_right(const std::vector<Fold>& folds, const Samples& samples, const Context& context) {
  std::vector<Index> right(folds.size());
  context.parallel(static_cast<Index>(folds.size()), [&](Index f) {
    const Fold& fold = folds[static_cast<std::size_t>(f)];
    const std::vector<int> predicted = classifier_of(fold, samples, 0).predict(fold.held_out);
    for (std::size_t i = 0; i < predicted.size(); ++i)
      if (predicted[i] == fold.held_out_classes[i]) ++right[static_cast<std::size_t>(f)];
  });
  Index sum = 0;
  for (const Index count : right) sum += count;
  return sum;
}

double search_cost(const Samples& samples, SparseRows& sparse, int fold_count, const CostSearch& search, Rng rng,
                   const Context& context) {
  const std::vector<int> fold_of = samples.one_class_each() ? grouped_folds(samples.y, samples.groups, fold_count, rng)
                                                            : group_folds(samples.y, samples.groups, fold_count, rng);
  std::vector<Fold> folds;
  folds.reserve(static_cast<std::size_t>(fold_count));
  for (int f = 0; f < fold_count; ++f) folds.push_back(make_fold(samples, sparse, fold_of, f));
  std::vector<double> costs = search.options.costs;
  std::sort(costs.begin(), costs.end());
  double best = costs.front();
  Index most = -1;
  for (std::size_t c = 0; c < costs.size() && !context.cancelled(); ++c) {
    train_folds(folds, samples, {search.loss, costs[c], search_tolerance(search.options.tolerance)}, context);
    const Index right = count_right(folds, samples, context);
    if (right > most) best = costs[c];
    most = std::max(most, right);
    context.report({search.name, static_cast<double>(c + 1), static_cast<double>(costs.size()), {}});
  }
  return most < 0 ? kCostWithoutSearch : best;  // cancelled before any was tried
}

double choose_cost(const Samples& samples, SparseRows& sparse, const CostSearch& search, Rng rng,
                   const Context& context) {
  if (search.options.costs.size() == 1) return search.options.costs[0];
  const auto fold_count = static_cast<int>(std::min<Index>(search.options.folds, samples.smallest_class()));
  if (fold_count >= 2) return search_cost(samples, sparse, fold_count, search, rng, context);
  context.warn(fmt::format(
      "[{}] a class has a single sample or group, so that nothing can be held out: taking C = 1 without a search",
      search.name));
  return kCostWithoutSearch;
}

void require_finite_rows(std::string_view where, ConstMatrixRef<double> x, const std::vector<Index>& rows) {
  for (const Index i : rows) require_finite(where, "x", x.row(i), i);
}

void silence_liblinear() {
  static const bool done = [] {
    set_print_string_function([](const char*) {});
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

LinearClassifier fit_one_versus_rest(std::string_view name, MarginLoss loss, ConstMatrixRef<double> x,
                                     std::span<const int> y, int class_count, const CostOptions& options, Rng rng,
                                     const Context& context) {
  options.validate(name);
  require_labels(name, x.rows(), y, class_count);
  LabelledRows labelled = labelled_rows(y);
  require_finite_rows(name, x, labelled.rows);
  if (!options.groups.empty() && options.groups.size() != y.size())
    throw InputError(
        name, fmt::format("groups: got {}, need {}, one for each row; or none", options.groups.size(), y.size()));
  require_two_classes(name, labelled);
  const Samples samples = labelled_samples(x, std::move(labelled), class_count, options.groups);
  use_one_blas_thread();
  silence_liblinear();
  SparseRows sparse(samples.x);
  const double cost = choose_cost(samples, sparse, {name, loss, options}, rng, context);
  const std::vector<int> nothing_held_out(samples.y.size(), -1);
  std::vector<Fold> whole;
  whole.push_back(make_fold(samples, sparse, nothing_held_out, 0));
  train_folds(whole, samples, {loss, cost, options.tolerance}, context);
  return classifier_of(whole[0], samples, cost);
}

}  // namespace detail

std::vector<double> CostOptions::default_costs() {
  std::vector<double> costs;
  for (int exponent = -10; exponent <= 4; ++exponent) costs.push_back(std::ldexp(1.0, exponent));
  return costs;
}

void CostOptions::validate(std::string_view where) const {
  if (costs.empty()) throw InputError(where, "costs: got none, need at least one; leave the default");
  for (const double cost : costs)
    if (!(cost > 0) || !std::isfinite(cost))
      throw InputError(where, fmt::format("costs: got {}, need finite numbers > 0; leave the default", cost));
  if (folds < 2) throw InputError(where, fmt::format("folds: got {}, need at least 2; use 5", folds));
  if (!(tolerance > 0) || !std::isfinite(tolerance))
    throw InputError(where, fmt::format("tolerance: got {}, need a finite number > 0; use 0.01", tolerance));
}

}  // namespace tocca
