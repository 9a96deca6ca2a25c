#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/command.h"
#include "cli/experiment.h"
#include "cli/figures.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/data/embedded.h"
#include "tocca/data/readers.h"
#include "tocca/data/splits.h"
#include "tocca/report/html.h"
#include "tocca/report/records.h"
#include "tocca/report/text.h"

namespace tocca::cli {
namespace {

constexpr Index kSide = 8;
constexpr std::size_t kSplits = 5;

constexpr std::string_view kExplanation = R"(
Each picture of a digit is cut in two views: its left and its right half. In a column "left → right" a linear classifier
has learnt from left halves alone and is tested on right halves alone, which works only as far as the method has brought
both into one space. "left → left" is the usual test on new pictures. svm and nn have no shared space and so nothing to
show across views. cca and rcca look for what the halves have in common without knowing the digits; the tocca methods
look for what is in common and tells the digits apart (decorrelated by whitening: w, softly: sd, not at all: nd).
The ridge of rcca and the epoch whose weights are kept were chosen on validation pictures, none of them on test pictures.
)";

// The digits, through the same reader as everybody's files.
TableFile read_digits() {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "tocca-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw Error("demo", fmt::format("cannot make a folder like {}", folder));
  const std::shared_ptr<void> remove(nullptr, [&](void*) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  });
  const std::string path = folder + "/digits.csv.gz";
  const std::span<const unsigned char> bytes = embedded_digits();
  write_file(path, [&](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  });
  return read_table(path);
}

Dataset load_digits() {
  const TableFile digits = read_digits();
  std::vector<std::string> labels;
  for (Index i = 0; i < digits.values.rows(); ++i) {
    labels.push_back(fmt::format("{}", digits.values.at(i, kSide * kSide)));
  }
  return {left_and_right(digits.values, kSide), make_labels(labels)};
}

// Half to train on, a quarter to choose with, a quarter to test on.
ExperimentSplit split_digits(const Dataset& digits, const Rng& rng) {
  const Split outer = stratified_split(digits.labels, digits.views.size(), 0.25, rng.split("test"));
  const Dataset rest = digits.select(outer.train);
  const Split inner = stratified_split(rest.labels, rest.views.size(), 1.0 / 3, rng.split("validation"));
  return {rest.select(inner.train), rest.select(inner.test), digits.select(outer.test)};
}

Experiment demo_experiment(const Session& session) {
  Experiment experiment;
  experiment.methods = {"cca", "rcca", "svm", "nn", "tocca-w", "tocca-sd", "tocca-nd"};
  experiment.keep_models = true;
  Options& options = experiment.options;
  options.n_components = 20;
  options.hidden_size = 128;
  options.epochs = 40;
  options.patience = 0;
  options.standardize = "scale";
  session.apply_common(options);
  const Dataset digits = load_digits();
  for (std::size_t s = 0; s < kSplits; ++s) {
    experiment.splits.push_back(split_digits(digits, Rng(options.seed).split("demo", s)));
  }
  return experiment;
}

std::vector<std::pair<std::string, std::string>> facts(const Experiment& experiment) {
  const ExperimentSplit& split = experiment.splits.front();
  return {{"data", "UCI optical recognition of handwritten digits, 8 × 8 pixels (Alpaydin, Kaynak 1998; CC BY 4.0)"},
          {"views", "left and right half, 32 pixels each"},
          {"training, validation, test", fmt::format("{}, {}, {}", split.training.views.size(),
                                                     split.validation.views.size(), split.test.views.size())},
          {"ridge of rcca", fmt::format("best of {} on the validation set", fmt::join(kRidges, ", "))},
          {"networks", fmt::format("{} × {} units, {} components, {} epochs, the best on the validation set kept",
                                   experiment.options.hidden_layers, experiment.options.hidden_size,
                                   experiment.options.n_components, experiment.options.epochs)}};
}

void write_results(const std::string& folder, const Experiment& experiment, const ExperimentResult& result,
                   Report report, const Context& context) {
  const std::filesystem::path place(folder);
  for (const Trial& trial : result.trials) {
    if (trial.method != "tocca-w" || trial.split != 0 || !trial.finished) continue;
    save_model(trial.model, (place / "tocca-w.safetensors").string());
    report.figures = space_figures(trial.model, experiment.splits[0].test, "tocca-w, test samples", context);
  }
  write_file((place / "results.csv").string(), [&](std::ostream& out) { out << csv(report); });
  write_file((place / "report.html").string(), [&](std::ostream& out) { out << html(report); });
}

int run_demo(const std::string& folder, Session& session) {
  if (!folder.empty()) require_folder("--out", folder);
  const Experiment experiment = demo_experiment(session);
  Context context = session.context(experiment.options.threads);
  ExperimentResult result;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    result = run_experiment(experiment, context);
  }
  Report report = session.report("Halves of handwritten digits", experiment.options.seed);
  report.rows = result.rows;
  report.facts = facts(experiment);
  session.result(text_table(report));
  session.note(kExplanation);
  if (!folder.empty()) {
    write_results(folder, experiment, result, report, context);
    session.note(
        fmt::format("\n{0}/report.html, {0}/results.csv and the model {0}/tocca-w.safetensors are written.\n", folder));
  }
  session.json(json_rows(result.rows), experiment.options.seed, {});
  if (!result.interrupted) return kSuccess;
  session.warn("interrupted: the table holds what was finished");
  return kInterrupted;
}

}  // namespace

Action set_up_demo(CLI::App& app) {
  const auto folder = std::make_shared<std::string>();
  app.add_option("--out", *folder, "Folder for report.html, results.csv and a model")->type_name("DIR");
  return [folder](Session& session) { return run_demo(*folder, session); };
}

}  // namespace tocca::cli
