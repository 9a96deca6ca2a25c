// Step times of training against what this machine's own matrix products reach in the same run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/command.h"
#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/linalg/blas.h"
#include "tocca/report/table.h"
#include "tocca/train/step.h"

namespace tocca::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchCase {
  std::string_view name;
  std::vector<Index> inputs;
  Index hidden_layers, hidden_size, components, classes, batch;
};

const std::vector<BenchCase>& bench_cases() {
  static const std::vector<BenchCase> cases = {
      {"mnist", {392, 392}, 4, 500, 50, 10, 32},         {"mnist-100", {392, 392}, 4, 500, 50, 10, 100},
      {"mnist-1000", {392, 392}, 4, 500, 50, 10, 1000},  {"breast", {512, 50}, 4, 200, 50, 2, 100},
      {"xrmb-2000", {273, 112}, 4, 1000, 112, 38, 2000},
  };
  return cases;
}

struct Recipe {
  std::string_view method;
  Projection projection;
  bool decorrelated;
};
constexpr Recipe kRecipes[] = {{"tocca-w", Projection::whiten, false},
                               {"tocca-sd", Projection::identity, true},
                               {"tocca-nd", Projection::identity, false}};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Rate of large single-precision products on all threads at once, in GFLOP/s: the best of several rounds.
double measure_peak(const Context& context, Index threads) {
  constexpr Index kSize = 768;
  std::vector<Matrix<float>> a(static_cast<std::size_t>(threads), Matrix<float>::Constant(kSize, kSize, 0.5F));
  std::vector<Matrix<float>> c = a;
  double best = 0;
  for (int round = 0; round < 8; ++round) {
    const auto start = Clock::now();
    context.parallel(threads, [&](Index t) {
      const auto i = static_cast<std::size_t>(t);
      for (int repeat = 0; repeat < 2; ++repeat) multiply<float>(a[i], a[i], c[i]);
    });
    const double flop = 2.0 * 2.0 * static_cast<double>(threads) * kSize * kSize * kSize;
    best = std::max(best, flop / seconds_since(start) * 1e-9);
  }
  return best;
}

// A random problem of a case's shape, and the step on it.
class Problem {
 public:
  Problem(const BenchCase& c, const Recipe& recipe) : case_(c) {
    shape_.inputs = c.inputs;
    shape_.hidden_layers = c.hidden_layers;
    shape_.hidden_size = c.hidden_size;
    shape_.components = c.components;
    shape_.heads = class_heads(c.classes);
    shape_.projection = recipe.projection;
    shape_.decorrelated = recipe.decorrelated;
    objective_ = {.decorrelation_weight = recipe.decorrelated ? 0.01 : 0, .weight_decay = 1e-4};
    Rng rng(1);
    for (const Index d : c.inputs) {
      x_.emplace_back(Matrix<float>::NullaryExpr(c.batch, d, [&] { return static_cast<float>(rng.normal()); }));
    }
    std::vector<Index> rows(static_cast<std::size_t>(c.batch));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<int> labels;
    for (Index i = 0; i < c.batch; ++i)
      labels.push_back(static_cast<int>(rng.below(static_cast<std::uint64_t>(c.classes))));
    batch_.samples.assign(c.inputs.size(), rows);
    batch_.row_of.assign(c.inputs.size(), rows);
    batch_.labels.assign(c.inputs.size(), HeadTargets{labels, {}});
  }

  template <class S>
  [[nodiscard]] Network<S> network() const {
    Network<S> result(shape_);
    result.initialize(Rng(2));
    return result;
  }
  template <class S>
  [[nodiscard]] RowReader<S> reader() const {
    return [this](Index view, std::span<const Index>, MatrixRef<S> out) {
      out = x_[static_cast<std::size_t>(view)].template cast<S>();
    };
  }

  // The products of every dense layer: forward, of the gradient with respect to its input, and to its weights.
  [[nodiscard]] double flop() const {
    double weights = 0;
    const Network<float> n(shape_);
    for (const Slot& slot : n.parameter_layout.slots()) weights += slot.decays ? static_cast<double>(slot.size()) : 0;
    return 6.0 * static_cast<double>(case_.batch) * weights;
  }

  // Largest deviation of the float gradient from the double one, relative to the largest entry.
  [[nodiscard]] double gradient_error(const Context& context) const {
    auto single = network<float>();
    auto exact = network<double>();
    exact.parameters.values() = single.parameters.values().cast<double>();
    TrainingStep<float> a(single, objective_, case_.batch, context);
    TrainingStep<double> b(exact, objective_, case_.batch, context);
    a.gradients(batch_, reader<float>(), Rng());
    b.gradients(batch_, reader<double>(), Rng());
    const auto difference = a.gradient().values().cast<double>() - b.gradient().values();
    return difference.norm() / b.gradient().values().norm();
  }

  // Median seconds of a step.
  [[nodiscard]] double seconds_per_step(const Context& context, double budget) const {
    auto net = network<float>();
    TrainingStep<float> step(net, objective_, case_.batch, context);
    const RowReader<float> read = reader<float>();
    std::vector<double> times;
    const auto start = Clock::now();
    for (int i = 0; i < 5 || (seconds_since(start) < budget && !context.cancelled()); ++i) {
      const auto before = Clock::now();
      step.step(batch_, read, Rng(3), {});
      if (i >= 2) times.push_back(seconds_since(before));  // the first two find cold caches
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }

 private:
  const BenchCase& case_;
  NetworkShape shape_;
  Objective objective_;
  std::vector<Matrix<float>> x_;
  Batch batch_;
};

struct BenchOptions {
  std::vector<std::string> cases;
  double seconds = 2;
};

std::vector<const BenchCase*> chosen_cases(const BenchOptions& options) {
  std::vector<std::string> names;
  for (const BenchCase& c : bench_cases()) names.emplace_back(c.name);
  std::vector<const BenchCase*> chosen;
  for (const std::string& name : options.cases.empty() ? names : options.cases) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw InputError("bench", unknown_name("case", name, names));
    chosen.push_back(&bench_cases()[static_cast<std::size_t>(found - names.begin())]);
  }
  return chosen;
}

// A float gradient further than this from the double one is not rounding.
constexpr double kGradientTolerance = 2e-3;

int bench(const BenchOptions& options, Session& session) {
  const Context context = session.context();
  const Index threads = context.workers ? context.workers->threads() : 1;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> table = {
      {"case", "method", "batch", "ms/step", "GFLOP/s", "sgemm peak", "efficiency", "gradient error"}};
  for (const BenchCase* c : chosen_cases(options)) {
    for (const Recipe& recipe : kRecipes) {
      const Problem problem(*c, recipe);
      const double error = problem.gradient_error(context);
      if (!(error < kGradientTolerance)) {
        throw Error("bench", fmt::format("{} {}: float and double gradients differ by {:.1e} (relative); nothing is "
                                         "timed that is wrong",
                                         c->name, recipe.method, error));
      }
      const double peak = measure_peak(context, threads);
      const double seconds = problem.seconds_per_step(context, options.seconds);
      const double rate = problem.flop() / seconds * 1e-9;
      rows.push_back({{"case", c->name},
                      {"method", recipe.method},
                      {"batch", c->batch},
                      {"ms_per_step", seconds * 1e3},
                      {"efficiency", rate / peak},
                      {"peak_gflops", peak},
                      {"gradient_error", error},
                      {"threads", threads}});
      table.push_back({std::string(c->name), std::string(recipe.method), fmt::format("{}", c->batch),
                       fmt::format("{:.3f}", seconds * 1e3), fmt::format("{:.1f}", rate), fmt::format("{:.1f}", peak),
                       fmt::format("{:.2f}", rate / peak), fmt::format("{:.0e}", error)});
    }
  }
  session.result(align(table));
  session.note(fmt::format(
      "\n{} threads. efficiency = (6 · batch · weights / sgemm peak of all threads) / median step time, both "
      "measured in this run.\n",
      threads));
  session.json(rows, 0, {});
  return 0;
}

}  // namespace

Action set_up_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  app.add_option("--case", options->cases, "which cases, by name: mnist, mnist-100, mnist-1000, breast, xrmb-2000")
      ->delimiter(',');
  app.add_option("--seconds", options->seconds, "how long each is timed")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  return [options](Session& session) { return bench(*options, session); };
}

}  // namespace tocca::cli
