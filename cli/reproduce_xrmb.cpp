// Tables 2 and 3 of the paper: phones from an acoustic and an articulatory view, with all labels and with few.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <system_error>

#include "cli/paper_experiment.h"
#include "cli/speech_like.h"
#include "tocca/core/error.h"
#include "tocca/data/readers.h"
#include "tocca/search/space_file.h"

namespace tocca::cli {
namespace {

namespace fs = std::filesystem;

// The files as published by K. Livescu and W. Wang with the deep variational CCA experiments; X1 is acoustic (39
// numbers × 7 frames), X2 articulatory (16 × 7); the paper has the two widths the other way round.
constexpr std::string_view kFirst = "XRMBf2KALDI_window7_single1.mat";
constexpr std::string_view kSecond = "XRMBf2KALDI_window7_single2.mat";
constexpr Index kAcoustic = 273;
constexpr Index kArticulatory = 112;

std::string find_published(const std::string& folder, std::string_view name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path.string();
  throw InputError("--data", fmt::format("'{}' lacks {} (of the two files {} with X1, XV1, XTe1 and {} with X2, XV2, "
                                         "XTe2, trainLabel, tuneLabel, testLabel; their publisher gives no checksums); "
                                         "without the corpus take --synthetic",
                                         folder, name, kFirst, kSecond));
}

View read_view(const std::string& path, const std::string& variable, const std::string& name, Index columns) {
  TableFile file = read_table(path + ":" + variable);
  if (file.values.columns() != columns) {
    throw InputError(path, fmt::format("{}: got {} columns, need {}", variable, file.values.columns(), columns));
  }
  View view{name, std::move(file.features), std::move(file.values), {}};
  view.row_of_sample.resize(static_cast<std::size_t>(view.values.rows()));
  std::iota(view.row_of_sample.begin(), view.row_of_sample.end(), Index{0});
  return view;
}

Dataset read_part(const std::string& folder, const std::string& part, const std::string& labels,
                  const std::vector<std::string>* classes) {
  const std::string first = find_published(folder, kFirst), second = find_published(folder, kSecond);
  Dataset data;
  data.views.views.push_back(read_view(first, part + "1", "acoustic", kAcoustic));
  data.views.views.push_back(read_view(second, part + "2", "articulatory", kArticulatory));
  const Index n = data.views.views[0].values.rows();
  const LabelColumn column = read_labels(second, labels);
  if (data.views.views[1].values.rows() != n || static_cast<Index>(column.text.size()) != n) {
    throw InputError(second, fmt::format("{}2 and {}: got {} and {} rows, need {} as in {}1", part, labels,
                                         data.views.views[1].values.rows(), column.text.size(), n, part));
  }
  for (Index i = 0; i < n; ++i) data.views.samples.push_back(fmt::format("{}{}", part, i));
  data.labels = classes == nullptr ? make_labels(column.text) : make_labels(column.text, *classes);
  return data;
}

SpeechData read_corpus(const std::string& folder) {
  SpeechData data;
  data.training = read_part(folder, "X", "trainLabel", nullptr);
  data.validation = read_part(folder, "XV", "tuneLabel", &data.training.labels.classes);
  data.test = read_part(folder, "XTe", "testLabel", &data.training.labels.classes);
  return data;
}

Options usual_options() {
  Options options;
  options.hidden_layers = 2;
  options.hidden_size = 500;
  options.n_components = 112;
  options.batch_size = 1000;
  options.batches = "stratified";
  options.epochs = 15;
  options.patience = 0;
  return options;
}

class Xrmb {
 public:
  Xrmb(const ReproduceRequest& request, const Session& session, const Context& context)
      : request_(request), options_(usual_options()) {
    std::set<double> seen;
    for (const double fraction : request.fractions) {
      if (!seen.insert(fraction).second) throw InputError("--fractions", fmt::format("{} is given twice", fraction));
      if (!(fraction > 0 && fraction <= 1)) {
        throw InputError("--fractions", fmt::format("got {}, need more than 0, at most 1", fraction));
      }
    }
    if (request.tune > 0) space_ = parse_space(std::string(find_space_preset("xrmb").toml), "xrmb");
    apply_request(request, session, options_, space_);
    const Index splits = request.synthetic && request.splits > 0 ? request.splits : 1;
    for (Index s = 0; s < splits; ++s) {
      SpeechData data = request.synthetic
                            ? make_speech_like(request.frames,
                                               Rng(options_.seed).split("xrmb", static_cast<std::uint64_t>(s)), context)
                            : read_corpus(request.data);
      splits_.push_back({std::move(data.training), std::move(data.validation), std::move(data.test)});
    }
  }

  PaperExperiment make() {
    add("LDA of columns and projections",
        {"lda", "cca", "rcca", "dcca", "softcca", "dcca-deeplda", "ccal-ce", "tocca-w", "tocca-sd", "tocca-nd"}, 1,
        true);
    add("softmax", {"nn", "tocca-w", "tocca-sd", "tocca-nd"}, 1, false);
    for (const double fraction : request_.fractions) {
      add(fmt::format("{:g} % of the labels", 100 * fraction), {"nn", "tocca-w"}, fraction, false);
    }
    for (const std::string& method : request_.methods) {
      if (placed_.contains(method)) continue;
      throw InputError("--methods", fmt::format("'{}' has no place in Tables 2 and 3", method));
    }
    experiment_.tune_once = request_.tune > 0;
    if (request_.synthetic) experiment_.paper_column = "paper, real speech";
    const ComparisonSplit& split = splits_[0];
    experiment_.facts = {
        {"data", request_.synthetic ? "made in the shape of the corpus, not speech: not comparable with the paper's"
                                    : "XRMB, as published"},
        {"frames", fmt::format("{} for training, {} for validation, {} for testing, of different speakers",
                               split.training.views.size(), split.validation->views.size(), split.test.views.size())},
        {"networks", fmt::format("{} × {} units, {} components, batches of {}, {} epochs, where they are not searched",
                                 options_.hidden_layers, options_.hidden_size, options_.n_components,
                                 options_.batch_size, options_.epochs)},
        {"lda and nn",
         "of both views side by side; with few labels nn has smaller batches, so that it takes as many "
         "steps"}};
    experiment_.remarks =
        "The paper: 4 × 1,000 units, batches of 50,000, 100 epochs, settings searched. Its text calls the view of 112 "
        "columns acoustic; in the corpus that is the one of 273.";
    return std::move(experiment_);
  }

 private:
  void add(const std::string& name, std::vector<std::string> methods, double fraction, bool joint) {
    Cell cell{name, {}};
    Comparison& comparison = cell.comparison;
    for (std::string& method : methods) {
      const auto& asked = request_.methods;
      const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), method) != asked.end();
      if (wanted) placed_.insert(method);
      if (wanted) comparison.methods.push_back(std::move(method));
    }
    if (comparison.methods.empty()) return;
    comparison.options = options_;
    comparison.options.label_fraction = fraction;
    if (joint) comparison.options.prediction = "joint";
    for (const char* method : {"lda", "nn"}) {
      comparison.options_of[method] = {{"fusion", "early"}, {"prediction", "own"}};
    }
    if (fraction < 1) {
      // It learns from the labelled frames alone: in smaller batches as many steps as from all of them.
      constexpr double kLeast = 32;
      const double size = std::max(kLeast, std::round(fraction * static_cast<double>(options_.batch_size)));
      comparison.options_of["nn"].emplace_back("batch_size", fmt::format("{}", size));
    }
    comparison.space = space_;
    comparison.tune = request_.tune;
    comparison.scoring.metric = {};
    comparison.splits = splits_;
    experiment_.cells.push_back(std::move(cell));
  }

  const ReproduceRequest& request_;
  std::set<std::string> placed_;  // methods that some cell has
  Options options_;
  SearchSpace space_;
  std::vector<ComparisonSplit> splits_;
  PaperExperiment experiment_{.name = "xrmb", .title = "Phones from sound and movement"};
};

}  // namespace

PaperExperiment xrmb_experiment(const ReproduceRequest& request, const Session& session, const Context& context) {
  Xrmb xrmb(request, session, context);
  return xrmb.make();
}

}  // namespace tocca::cli
