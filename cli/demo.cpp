#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/command.h"
#include "cli/comparison_table.h"
#include "cli/figures.h"
#include "cli/halves.h"
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
#include "tocca/search/space_file.h"

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
ComparisonSplit split_digits(const Dataset& digits, const Rng& rng) {
  const Split outer = stratified_split(digits.labels, digits.views.size(), 0.25, rng.split("test"));
  const Dataset rest = digits.select(outer.train);
  const Split inner = stratified_split(rest.labels, rest.views.size(), 1.0 / 3, rng.split("validation"));
  return {rest.select(inner.train), rest.select(inner.test), digits.select(outer.test)};
}

// The ridge of rcca is chosen on the validation set, the larger one of equally good ones; nothing else is searched.
constexpr std::string_view kSpace = "[space]\nridge = [10, 1, 0.1, 0.01, 0.001]\n";

Comparison demo_comparison(const Session& session) {
  Comparison comparison;
  comparison.methods = {"cca", "rcca", "svm", "nn", "tocca-w", "tocca-sd", "tocca-nd"};
  comparison.scoring.metric = {"cross_view_accuracy", {}, {}};
  comparison.space = parse_space(std::string(kSpace), "demo");
  comparison.tune = 5;
  comparison.in_order = true;
  Options& options = comparison.options;
  options.n_components = 20;
  options.hidden_size = 128;
  options.epochs = 40;
  options.patience = 0;
  options.standardize = "scale";
  session.apply_common(options);
  const Dataset digits = load_digits();
  for (std::size_t s = 0; s < kSplits; ++s) {
    comparison.splits.push_back(split_digits(digits, Rng(options.seed).split("demo", s)));
  }
  return comparison;
}

std::vector<std::pair<std::string, std::string>> facts(const Comparison& comparison) {
  const ComparisonSplit& split = comparison.splits.front();
  return {{"data", "UCI optical recognition of handwritten digits, 8 × 8 pixels (Alpaydin, Kaynak 1998; CC BY 4.0)"},
          {"views", "left and right half, 32 pixels each"},
          {"training, validation, test", fmt::format("{}, {}, {}", split.training.views.size(),
                                                     split.validation->views.size(), split.test.views.size())},
          {"ridge of rcca",
           fmt::format("best of {} on the validation set", fmt::join(comparison.space.parameters[0].values, ", "))},
          {"networks", fmt::format("{} × {} units, {} components, {} epochs, the best on the validation set kept",
                                   comparison.options.hidden_layers, comparison.options.hidden_size,
                                   comparison.options.n_components, comparison.options.epochs)}};
}

// `shown`: the model whose space is drawn and saved; empty when it was not finished.
void write_results(const std::string& folder, const FittedModel& shown, const Dataset& test, Report report,
                   const Context& context) {
  const std::filesystem::path place(folder);
  if (shown.view_count() > 0) {
    save_model(shown, (place / "tocca-w.safetensors").string());
    report.figures = space_figures(shown, test, "tocca-w, test samples", context);
  }
  write_file((place / "results.csv").string(), [&](std::ostream& out) { out << csv(report); });
  write_file((place / "report.html").string(), [&](std::ostream& out) { out << html(report); });
}

int run_demo(const std::string& folder, Session& session) {
  if (!folder.empty()) require_folder("--out", folder);
  Comparison comparison = demo_comparison(session);
  FittedModel shown;
  comparison.fitted = [&shown](const std::string& method, std::size_t split, FittedModel model) {
    if (method == "tocca-w" && split == 0) shown = std::move(model);
  };
  Context context = session.context(comparison.options.threads);
  ComparisonResult result;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    TrialStore store("");
    result = run_comparison(store, comparison, context);
    context.cancel = nullptr;
  }
  Report report = session.report("Halves of handwritten digits", comparison.options.seed);
  report.rows = result_rows(result, comparison);
  report.facts = facts(comparison);
  session.result(text_table(report));
  session.note(kExplanation);
  if (!folder.empty()) {
    write_results(folder, shown, comparison.splits[0].test, report, context);
    session.note(
        fmt::format("\n{0}/report.html, {0}/results.csv and the model {0}/tocca-w.safetensors are written.\n", folder));
  }
  session.json(json_rows(report.rows), comparison.options.seed, {});
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
