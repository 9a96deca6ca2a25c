// Table S3 of the paper: how long training takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/interrupt.h"
#include "cli/paper.h"
#include "cli/paper_experiment.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "tocca/core/error.h"
#include "tocca/methods/methods.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

struct RuntimeCase {
  std::string_view name;
  std::array<Index, 2> columns;
  Index hidden_layers, hidden_size, components, classes, batch, epochs;
  Index samples;  ///< for training; the paper does not print it beside the times
};
constexpr RuntimeCase kCases[] = {
    {"MNIST, batch 100, 200 epochs", {392, 392}, 4, 500, 50, 10, 100, 200, 50'000},
    {"MNIST, batch 30, 200 epochs", {392, 392}, 4, 500, 50, 10, 30, 200, 50'000},
    {"breast cancer, batch 100, 400 epochs", {512, 50}, 4, 200, 50, 2, 100, 400, 500},
    {"XRMB, batch 50,000, 100 epochs", {273, 112}, 4, 1000, 112, 38, 50'000, 100, 1'429'236},
};

// Random rows: a step takes the same time on them.
Dataset random_data(const RuntimeCase& c, Index samples, const Rng& rng) {
  Dataset data;
  for (std::size_t v = 0; v < c.columns.size(); ++v) {
    Rng own = rng.split("view", v);
    Matrix<float> x =
        Matrix<float>::NullaryExpr(samples, c.columns[v], [&] { return static_cast<float>(own.normal()); });
    View view{v == 0 ? "first" : "second", {}, Table(std::move(x)), {}};
    for (Index j = 0; j < c.columns[v]; ++j) view.features.push_back(fmt::format("c{}", j));
    for (Index i = 0; i < samples; ++i) view.row_of_sample.push_back(i);
    data.views.views.push_back(std::move(view));
  }
  for (Index i = 0; i < samples; ++i) data.views.samples.push_back(fmt::format("{}", i));
  for (Index k = 0; k < c.classes; ++k) data.labels.classes.push_back(fmt::format("{}", k));
  for (Index i = 0; i < samples; ++i) data.labels.codes.push_back(static_cast<int>(i % c.classes));
  return data;
}

// Seconds of an optimisation step, from a training of a few seconds.
double seconds_per_step(const RuntimeCase& c, const std::string& method, const Options& common,
                        const Context& context) {
  // What is done once an epoch is to weigh as little as it does with all samples.
  constexpr Index kRows = 20'000, kLeastSteps = 2, kMostSteps = 200;
  constexpr double kLeastSeconds = 3;
  Options options = common;
  options.method = method;
  options.hidden_layers = c.hidden_layers;
  options.hidden_size = c.hidden_size;
  options.n_components = c.components;
  options.batch_size = c.batch;
  options.validation = 0;
  options.epochs = 1;
  const Index steps =
      std::min(std::clamp(kRows / c.batch, kLeastSteps, kMostSteps), (c.samples + c.batch - 1) / c.batch);
  const Dataset data = random_data(c, steps * c.batch, Rng(options.seed).split(c.name));
  for (;;) {
    const TrainSummary summary = fit(data, nullptr, options, context).summary;
    if (summary.status == TrainStatus::interrupted) throw Interrupted("reproduce", "interrupted");
    const double total = static_cast<double>(steps * options.epochs);
    if (summary.seconds >= kLeastSeconds) return summary.seconds / total;
    const double again = std::clamp(kLeastSeconds * 1.2 / std::max(summary.seconds, 1e-3), 2.0, 100.0);
    options.epochs = static_cast<Index>(static_cast<double>(options.epochs) * again) + 1;
  }
}

Index steps_of(const RuntimeCase& c) { return (c.samples + c.batch - 1) / c.batch * c.epochs; }

}  // namespace

int run_runtime(const ReproduceRequest& request, Session& session) {
  Options options;
  options.learning_rate = 1e-4;
  apply_settings(request.settings, session, options);
  Context context = session.context(options.threads);
  context.progress = {};
  const std::vector<std::string> methods =
      request.methods.empty() ? std::vector<std::string>{"tocca-w", "tocca-sd"} : request.methods;
  std::vector<std::vector<std::string>> table{
      {"training", "method", "ms per step", "steps", "takes", "the paper's GPU took"}};
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool interrupted = false;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    for (const RuntimeCase& c : kCases) {
      for (const std::string& method : methods) {
        if (context.cancelled()) break;
        session.info(fmt::format("{}: {}", c.name, method));
        const double step = seconds_per_step(c, method, options, context);
        const double total = step * static_cast<double>(steps_of(c));
        const auto paper = published("runtime", c.name, method);
        table.push_back({std::string(c.name), method, fmt::format("{:.2f}", 1000 * step),
                         fmt::format("{}", steps_of(c)), duration_text(total), paper ? duration_text(*paper) : ""});
        rows.push_back({{"case", c.name},
                        {"method", method},
                        {"batch", c.batch},
                        {"ms_per_step", 1000 * step},
                        {"steps", steps_of(c)},
                        {"seconds", total},
                        {"samples", c.samples}});
        if (paper) rows.back()["paper"] = *paper;
      }
    }
    interrupted = context.cancelled();
  }
  session.result(align(table));
  session.note(fmt::format(
      "\nMeasured over some seconds each on {} threads, without validation, and scaled to the number of steps: {} "
      "training samples of MNIST, {} of breast cancer and {} of XRMB are taken for granted (the paper does not print "
      "them beside its times, which a GTX 1080 Ti took with Keras and Theano).\n",
      context.workers ? context.workers->threads() : 1, kCases[0].samples, kCases[2].samples, kCases[3].samples));
  session.json(rows, options.seed, {{"experiment", "runtime"}});
  return interrupted ? kInterrupted : kSuccess;
}

}  // namespace tocca::cli
