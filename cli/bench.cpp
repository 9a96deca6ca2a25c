// Step times of training against what this machine's own matrix products reach in the same run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/bench_linear.h"
#include "cli/command.h"
#include "cli/timing.h"
#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/report/table.h"
#include "tocca/train/step.h"

namespace tocca::cli {
namespace {

struct BenchCase {
  std::string_view name;
  std::vector<Index> inputs;
  Index hidden_layers, hidden_size, components, classes, batch;
  bool on_request = false;  // takes gigabytes and minutes
};

const std::vector<BenchCase>& bench_cases() {
  static const std::vector<BenchCase> cases = {
      {"mnist", {392, 392}, 4, 500, 50, 10, 32},
      {"mnist-100", {392, 392}, 4, 500, 50, 10, 100},
      {"mnist-1000", {392, 392}, 4, 500, 50, 10, 1000},
      {"breast", {512, 50}, 4, 200, 50, 2, 100},
      {"xrmb-2000", {273, 112}, 4, 1000, 112, 38, 2000},
      {"xrmb-10000", {273, 112}, 4, 1000, 112, 38, 10000, true},
      {"xrmb-50000", {273, 112}, 4, 1000, 112, 38, 50000, true},
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
    // Sample i is row i, and a step reads a run of them at a time.
    return [this](Index view, std::span<const Index> samples, Index first, MatrixRef<S> out) {
      const auto& x = x_[static_cast<std::size_t>(view)];
      out = x.block(samples.front(), first, out.rows(), out.cols()).template cast<S>();
    };
  }

  // The products of every dense layer: forward, of the gradient with respect to its input, and to its weights.
  [[nodiscard]] double flop() const {
    double weights = 0;
    const Network<float> n(shape_);
    for (const Slot& slot : n.parameter_layout.slots()) weights += slot.decays ? static_cast<double>(slot.size()) : 0;
    return 6.0 * static_cast<double>(case_.batch) * weights;
  }

  // How far the float gradient is from the double one, in relation to its norm. Only one step is in memory at a time.
  [[nodiscard]] double gradient_error(const Context& context) const {
    const Vector<double> exact = gradient<double>(context), single = gradient<float>(context);
    return (single - exact).norm() / exact.norm();
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
    return median(times);
  }

 private:
  // Of a network whose parameters are floats.
  template <class S>
  [[nodiscard]] Vector<double> gradient(const Context& context) const {
    auto net = network<S>();
    net.parameters.values() = network<float>().parameters.values().template cast<S>();
    TrainingStep<S> step(net, objective_, case_.batch, context);
    step.gradients(batch_, reader<S>(), Rng());
    return step.gradient().values().template cast<double>();
  }

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

// What CCA takes is another table.
constexpr std::string_view kLinear = "linear";
constexpr Index kLinearSamples[] = {1'000, 10'000, 100'000, 1'000'000};

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const BenchCase& c : bench_cases()) names.emplace_back(c.name);
  names.emplace_back(kLinear);
  return names;
}

// The names asked for, all of them known; if none, all that do not wait for that.
std::vector<std::string> chosen_cases(const BenchOptions& options) {
  const std::vector<std::string> names = case_names();
  for (const std::string& name : options.cases) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw InputError("bench", unknown_name("case", name, names));
  }
  if (!options.cases.empty()) return options.cases;
  std::vector<std::string> usual;
  for (const BenchCase& c : bench_cases()) {
    if (!c.on_request) usual.emplace_back(c.name);
  }
  usual.emplace_back(kLinear);
  return usual;
}

// A float gradient further than this from the double one is not rounding. In a large batch a unit or two of millions
// lie so near to the kink of ReLU that rounding decides, which was seen to make 3e-3 of the gradient.
constexpr double kGradientTolerance = 1e-2;

using Rows = nlohmann::ordered_json;
using Lines = std::vector<std::vector<std::string>>;

// One line for each variant of TOCCA, in the order of the table.
void bench_case(const BenchCase& c, double budget, const Context& context, Rows& rows, Lines& table) {
  const Index threads = context.workers ? context.workers->threads() : 1;
  for (const Recipe& recipe : kRecipes) {
    const Problem problem(c, recipe);
    const double error = problem.gradient_error(context);
    if (!(error < kGradientTolerance)) {
      throw Error("bench", fmt::format("{} {}: float and double gradients differ by {:.1e} (relative); nothing is "
                                       "timed that is wrong",
                                       c.name, recipe.method, error));
    }
    // Before and after: a shared machine changes its pace, and the better rate is the stricter measure.
    double peak = measure_peak<float>(context);
    const double seconds = problem.seconds_per_step(context, budget);
    peak = std::max(peak, measure_peak<float>(context));
    const double rate = problem.flop() / seconds * 1e-9;
    rows.push_back({{"case", c.name},
                    {"method", recipe.method},
                    {"batch", c.batch},
                    {"ms_per_step", seconds * 1e3},
                    {"efficiency", rate / peak},
                    {"peak_gflops", peak},
                    {"gradient_error", error},
                    {"threads", threads}});
    table.push_back({std::string(c.name), std::string(recipe.method), fmt::format("{}", c.batch),
                     fmt::format("{:.3f}", seconds * 1e3), fmt::format("{:.1f}", rate), fmt::format("{:.1f}", peak),
                     fmt::format("{:.2f}", rate / peak), fmt::format("{:.0e}", error)});
  }
}

int bench(const BenchOptions& options, Session& session) {
  const Context context = session.context();
  Rows rows = Rows::array();
  Lines steps = {{"case", "method", "batch", "ms/step", "GFLOP/s", "sgemm peak", "efficiency", "gradient error"}};
  Lines linear;
  for (const std::string& name : chosen_cases(options)) {
    if (name == kLinear) {
      bench_linear(context, options.seconds, kLinearSamples, rows, linear);
      continue;
    }
    const auto c =
        std::find_if(bench_cases().begin(), bench_cases().end(), [&](const auto& c) { return c.name == name; });
    bench_case(*c, options.seconds, context, rows, steps);
  }
  if (steps.size() > 1) {
    session.result(align(steps));
    session.note(
        "\nefficiency = (6 · batch · weights / sgemm peak of all threads) / median step time, both measured in "
        "this run.\n");
  }
  if (!linear.empty()) {
    session.result(align(linear));
    session.note("\nefficiency = (samples · columns² / dgemm peak of all threads) / median time of the whole fit.\n");
  }
  session.json(rows, 0, {});
  return 0;
}

}  // namespace

Action set_up_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  app.add_option("--case", options->cases, "which cases, by name: " + join(case_names(), ", "))->delimiter(',');
  app.add_option("--seconds", options->seconds, "how long each is timed")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  return [options](Session& session) { return bench(*options, session); };
}

}  // namespace tocca::cli
