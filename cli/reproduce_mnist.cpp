// Figure 2 of the paper: halves of MNIST images, by the cross-view protocol.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "cli/halves.h"
#include "cli/paper_experiment.h"
#include "tocca/core/error.h"
#include "tocca/data/readers.h"
#include "tocca/search/space_file.h"

namespace tocca::cli {
namespace {

constexpr Index kSide = 28;
constexpr Index kTraining = 50'000;  // images to draw from; those after them are for validation
constexpr Index kValidation = 10'000;
constexpr Index kUsualSplits = 5;

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

Options usual_options() {
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
  const auto need = [](const char* option, Index got, Index least, Index most) {
    if (got < least || got > most) {
      throw InputError(option, fmt::format("got {}, need {} to {}", got, least, most));
    }
  };
  for (const Index n : request.sizes) need("--n", n, 1, kTraining);
  for (const Index size : request.batch_sizes) need("--batch-sizes", size, 2, kTraining);
  need("--validation-images", request.validation_images, 1, kValidation);
}

// The part of the training images that all cells share.
struct Parts {
  Mnist mnist;
  Dataset validation;
};

Comparison comparison_of(const Parts& parts, Index n, Index splits, const Options& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.scoring.metric = {"cross_view_accuracy", "left", "right"};
  for (Index s = 0; s < splits; ++s) {
    const auto chosen = draw(n, Rng(options.seed).split("mnist", static_cast<std::uint64_t>(s)));
    comparison.splits.push_back({parts.mnist.training.select(chosen), parts.validation, parts.mnist.test});
  }
  return comparison;
}

// Without --tune the ridge is the only setting that is searched.
constexpr std::string_view kRidge = "[space]\nridge = [10, 1, 0.1, 0.01, 0.001]\n";
constexpr Index kRidges = 5;

}  // namespace

PaperExperiment mnist_experiment(const ReproduceRequest& request, const Session& session, const Context&) {
  check(request);
  PaperExperiment experiment{.name = "mnist", .title = "Halves of MNIST images", .tune_once = request.tune > 0};
  Options options = usual_options();
  SearchSpace space = request.tune > 0
                          ? parse_space(std::string(find_space_preset("mnist-regularized").toml), "mnist-regularized")
                          : parse_space(std::string(kRidge), "mnist");
  apply_request(request, session, options, space);
  Parts parts{read_mnist(request.data), {}};
  std::vector<Index> held_out(static_cast<std::size_t>(request.validation_images));
  std::iota(held_out.begin(), held_out.end(), kTraining);
  parts.validation = parts.mnist.training.select(held_out);
  const Index splits = request.splits > 0 ? request.splits : kUsualSplits;
  const std::vector<Index> sizes = request.sizes.empty() ? std::vector<Index>{1000} : request.sizes;
  const auto add = [&](std::string name, Index n, const Options& own) {
    Cell cell{std::move(name), comparison_of(parts, n, splits, own)};
    cell.comparison.methods = request.methods;
    if (request.methods.empty()) {
      cell.comparison.methods = {"cca",          "rcca",    "svm",     "nn",       "dcca",    "softcca",
                                 "dcca-deeplda", "ccal-ce", "tocca-w", "tocca-sd", "tocca-nd"};
    }
    cell.comparison.space = space;
    cell.comparison.tune = request.tune > 0 ? request.tune : kRidges;
    cell.comparison.in_order = request.tune == 0;
    experiment.cells.push_back(std::move(cell));
  };
  for (const Index n : sizes) add(fmt::format("n = {}", n), n, options);
  for (const Index size : request.batch_sizes) {
    Options own = options;
    own.batch_size = size;
    add(fmt::format("n = {}, batch size {}", sizes[0], size), sizes[0], own);
  }
  experiment.facts = {
      {"data", "MNIST, left and right half of each image, 392 pixels each"},
      {"accuracy",
       "a linear SVM learns from the left halves' projections and is tested on the right halves' (svm "
       "and nn have no shared space: learnt and tested on right halves)"},
      {"training", "images drawn from the first 50,000, anew for each split"},
      {"validation", fmt::format("training images 50,000 to {}", kTraining + request.validation_images - 1)},
      {"test", "the 10,000 test images"},
      {"networks",
       fmt::format("{} × {} units, {} components, {} epochs, input dropout {}, where they are not searched; "
                   "the best epoch on the validation set kept",
                   options.hidden_layers, options.hidden_size, options.n_components, options.epochs,
                   options.input_dropout)},
      {"settings", request.tune > 0
                       ? std::string("searched, the best on the validation set with the first split's training images")
                       : "as above; the ridge of rcca: best of 10, 1, 0.1, 0.01, 0.001 on the validation set"}};
  return experiment;
}

}  // namespace tocca::cli
