#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>

#include "cli/command.h"
#include "cli/experiment.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "cli/settings.h"
#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/data/readers.h"
#include "tocca/report/html.h"
#include "tocca/report/records.h"
#include "tocca/report/text.h"

namespace tocca::cli {
namespace {

constexpr Index kSide = 28;
constexpr Index kTraining = 50'000;  // images to draw from; those after them are for validation
constexpr Index kValidation = 10'000;

struct ReproduceRequest {
  std::string experiment;
  std::string data;
  Index n = 1000;
  Index splits = 5;
  Index validation_images = 2000;
  std::vector<std::string> methods{"cca", "rcca", "svm", "nn", "tocca-w", "tocca-sd", "tocca-nd"};
  SettingsRequest settings;
  std::string out;
};

// A published file of the data set; size and MD5 are of the unpacked bytes, as copies are packed differently.
struct PublishedFile {
  std::string_view name;
  Index images;
  std::string_view bytes;
  std::string_view md5;
};
constexpr PublishedFile kTrainImages{"train-images-idx3-ubyte", 60'000, "47,040,016",
                                     "6bbc9ace898e44ae57da46a324031adb"};
constexpr PublishedFile kTrainLabels{"train-labels-idx1-ubyte", 60'000, "60,008", "a25bea736e30d166cdddb491f175f624"};
constexpr PublishedFile kTestImages{"t10k-images-idx3-ubyte", 10'000, "7,840,016", "2646ac647ad5339dbf082846283269ea"};
constexpr PublishedFile kTestLabels{"t10k-labels-idx1-ubyte", 10'000, "10,008", "27ae3e4e09519cfbb04c329615203637"};

// The file, packed or not.
std::string find_published(const std::string& folder, const PublishedFile& file) {
  for (const std::string_view ending : {".gz", ""}) {
    const std::filesystem::path path = std::filesystem::path(folder) / fmt::format("{}{}", file.name, ending);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
  }
  throw InputError("--data", fmt::format("'{}' lacks the MNIST file {}.gz (or unpacked: {}, {} bytes, MD5 {})", folder,
                                         file.name, file.name, file.bytes, file.md5));
}

void check_count(const std::string& path, Index got, const PublishedFile& file) {
  if (got == file.images) return;
  throw InputError(path, fmt::format("got {} samples, need {}; the published file unpacks to {} bytes, MD5 {}", got,
                                     file.images, file.bytes, file.md5));
}

Views read_halves(const std::string& folder, const PublishedFile& file) {
  const TableFile images = read_table(find_published(folder, file));
  check_count(images.path, images.values.rows(), file);
  if (images.values.columns() != kSide * kSide) {
    throw InputError(images.path, fmt::format("got {} pixels, need {}", images.values.columns(), kSide * kSide));
  }
  return left_and_right(images.values, kSide);
}

LabelColumn read_digits(const std::string& folder, const PublishedFile& file) {
  LabelColumn labels = read_labels(find_published(folder, file), "");
  check_count(labels.path, static_cast<Index>(labels.text.size()), file);
  return labels;
}

struct Mnist {
  Dataset training, test;
};

Mnist read_mnist(const std::string& folder) {
  for (const PublishedFile& file : {kTrainImages, kTrainLabels, kTestImages, kTestLabels}) {
    find_published(folder, file);
  }
  Mnist mnist;
  mnist.training = {read_halves(folder, kTrainImages), make_labels(read_digits(folder, kTrainLabels).text)};
  mnist.test = {read_halves(folder, kTestImages),
                make_labels(read_digits(folder, kTestLabels).text, mnist.training.labels.classes)};
  return mnist;
}

std::vector<Index> draw(Index n, Rng rng) {
  std::vector<Index> chosen = rng.permutation(kTraining);
  chosen.resize(static_cast<std::size_t>(n));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Options paper_options() {
  Options options;
  options.hidden_layers = 4;
  options.hidden_size = 500;
  options.n_components = 50;
  options.epochs = 60;
  options.patience = 0;
  options.standardize = "scale";
  options.input_dropout = 0.2;  // chosen on validation images, see docs/results.md
  return options;
}

void check(const ReproduceRequest& request) {
  const auto need = [](const char* option, Index got, Index most) {
    if (got >= 1 && got <= most) return;
    throw InputError(option, fmt::format("got {}, need 1 to {}", got, most));
  };
  if (request.experiment != "mnist") {
    throw InputError("reproduce", fmt::format("unknown experiment '{}': known is mnist", request.experiment));
  }
  need("--n", request.n, kTraining);
  need("--splits", request.splits, 1000);
  need("--validation-images", request.validation_images, kValidation);
  for (const std::string& method : request.methods) find_method(method);
}

Experiment mnist_experiment(const ReproduceRequest& request, const Options& options) {
  const Mnist mnist = read_mnist(request.data);
  std::vector<Index> held_out(static_cast<std::size_t>(request.validation_images));
  std::iota(held_out.begin(), held_out.end(), kTraining);
  Experiment experiment{request.methods, options, {}, false};
  for (Index s = 0; s < request.splits; ++s) {
    const auto chosen = draw(request.n, Rng(options.seed).split("mnist", static_cast<std::uint64_t>(s)));
    experiment.splits.push_back({mnist.training.select(chosen), mnist.training.select(held_out), mnist.test});
  }
  return experiment;
}

constexpr std::string_view kPaperText =
    "The paper (Couture et al. 2019), n = 1000, accuracy across views: best other method 0.783, TOCCA-SD 0.867.\n";

std::vector<std::pair<std::string, std::string>> facts(const ReproduceRequest& request, const Options& options) {
  return {{"data", "MNIST, left and right half of each image, 392 pixels each"},
          {"training", fmt::format("{} images drawn from the first 50,000, anew for each split", request.n)},
          {"validation", fmt::format("training images 50,000 to {}", kTraining + request.validation_images - 1)},
          {"test", "the 10,000 test images"},
          {"networks",
           fmt::format("{} × {} units, {} components, {} epochs, input dropout {}, the best on the validation set kept",
                       options.hidden_layers, options.hidden_size, options.n_components, options.epochs,
                       options.input_dropout)},
          {"ridge of rcca", fmt::format("best of {} on the validation set", fmt::join(kRidges, ", "))},
          {"the paper, n = 1000", "best other method 0.783, TOCCA-SD 0.867"}};
}

std::string facts_text(const Report& report) {
  std::string text = "\n";
  for (const auto& [name, value] : report.facts) text += fmt::format("{}: {}\n", name, value);
  return text;
}

nlohmann::ordered_json paper_rows() {
  const auto row = [](const char* method, double mean) {
    return nlohmann::ordered_json{{"method", method}, {"n", 1000}, {"metric", "accuracy"}, {"mean", mean}};
  };
  return nlohmann::ordered_json::array({row("best other method", 0.783), row("tocca-sd", 0.867)});
}

void write_results(const std::string& folder, const Report& report) {
  const std::filesystem::path place(folder);
  write_file((place / "results.csv").string(), [&](std::ostream& out) { out << csv(report); });
  write_file((place / "report.html").string(), [&](std::ostream& out) { out << html(report); });
}

int run_reproduce(const ReproduceRequest& request, Session& session) {
  check(request);
  Options options = paper_options();
  apply_settings(request.settings, session, options);
  if (!request.out.empty()) require_folder("--out", request.out);
  const Experiment experiment = mnist_experiment(request, options);
  Context context = session.context(options.threads);
  ExperimentResult result;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    result = run_experiment(experiment, context);
  }
  Report report = session.report("Halves of MNIST images", options.seed);
  report.rows = result.rows;
  report.facts = facts(request, options);
  session.result(text_table(report) + "\n" + std::string(kPaperText));
  session.note(facts_text(report) + "\n" + trials_text(result));
  if (!request.out.empty()) {
    write_results(request.out, report);
    session.note(fmt::format("\n{0}/report.html and {0}/results.csv are written.\n", request.out));
  }
  session.json(json_rows(result.rows), options.seed, {{"experiment", "mnist"}, {"paper", paper_rows()}});
  if (!result.interrupted) return kSuccess;
  session.warn("interrupted: the table holds what was finished");
  return kInterrupted;
}

}  // namespace

Action set_up_reproduce(CLI::App& app) {
  const auto request = std::make_shared<ReproduceRequest>();
  app.add_option("EXPERIMENT", request->experiment, "mnist: halves of handwritten digits, by the cross-view protocol")
      ->required();
  app.add_option("--data", request->data, "Folder with the four IDX files of MNIST, packed or not")
      ->type_name("DIR")
      ->required();
  app.add_option("--n", request->n, "Training images, drawn anew for each split")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--splits", request->splits, "Random splits")->type_name("N")->capture_default_str();
  app.add_option("--validation-images", request->validation_images,
                 "Of the 10,000 images kept for validation, how many are used: scoring all of them after each epoch "
                 "costs more than training when n is small")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--methods", request->methods, "Methods, separated by commas (default: all)")
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_set_option(app, request->settings);
  app.add_option("--out", request->out, "Folder for report.html and results.csv")->type_name("DIR");
  return [request](Session& session) { return run_reproduce(*request, session); };
}

}  // namespace tocca::cli
