// Table 1 of the paper: two views in training, one at test time. The paper's cohort is private; these are tumours of
// The Cancer Genome Atlas.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "cli/paper_experiment.h"
#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/data/readers.h"
#include "tocca/search/space_file.h"

namespace tocca::cli {
namespace {

namespace fs = std::filesystem;

constexpr Index kUsualSplits = 8;

std::string find_file(const std::string& folder, const std::string& name) {
  for (const char* ending : {".csv.gz", ".csv"}) {
    const fs::path path = fs::path(folder) / (name + ending);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
  }
  throw InputError("--data", fmt::format("'{}' lacks {}.csv.gz (or .csv)", folder, name));
}

bool has_file(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / (name + ".csv.gz"), ignored) ||
         fs::exists(fs::path(folder) / (name + ".csv"), ignored);
}

// Views "mirna" and `other`, and a column of labels.
struct Source {
  std::string mirna, other, labels, column;
};

Dataset read_tumours(const std::string& folder, const Source& source, const std::string& other_name,
                     const std::vector<std::string>* classes = nullptr) {
  std::vector<NamedTable> tables;
  tables.push_back({"mirna", read_table(find_file(folder, source.mirna))});
  tables.push_back({other_name, read_table(find_file(folder, source.other))});
  JoinReport report;
  const Views views = join_views(std::move(tables), &report);
  const LabelColumn column = read_labels(find_file(folder, source.labels), source.column);
  const std::vector<std::string> texts = join_labels(views, column, report.by_id);
  return {views, classes == nullptr ? make_labels(texts) : make_labels(texts, *classes), {}};
}

Dataset labelled_only(const Dataset& data) {
  std::vector<Index> known;
  for (Index i = 0; i < data.views.size(); ++i) {
    if (data.labels.codes[static_cast<std::size_t>(i)] >= 0) known.push_back(i);
  }
  return data.select(known);
}

Options usual_options() {
  Options options;
  options.hidden_layers = 1;
  options.hidden_size = 200;
  options.n_components = 50;
  options.batch_size = 100;
  options.learning_rate = 1e-3;
  options.weight_decay = 1e-3;
  options.epochs = 200;
  options.patience = 0;
  options.dropout = 0.2;
  return options;
}

// Columns run0, run1, ... of words train, val, test.
std::vector<ComparisonSplit> given_splits(const Dataset& all, const std::string& path, Index most) {
  std::vector<ComparisonSplit> splits;
  for (const std::string& column : label_columns(path)) {
    if (static_cast<Index>(splits.size()) == most) break;
    LabelColumn words = read_labels(path, column);
    if (!words.ids.empty()) words.text = join_labels(all.views, words, true);
    if (static_cast<Index>(words.text.size()) != all.views.size()) {
      throw InputError(path,
                       fmt::format("got {} rows, need {}, one for each tumour", words.text.size(), all.views.size()));
    }
    std::vector<Index> parts[3];
    for (std::size_t i = 0; i < words.text.size(); ++i) {
      if (all.labels.codes[i] < 0) continue;
      const std::string& word = words.text[i];
      if (word == "train" || word == "val" || word == "test") {
        parts[word == "train" ? 0 : word == "val" ? 1 : 2].push_back(static_cast<Index>(i));
      }
    }
    splits.push_back({all.select(parts[0]), all.select(parts[1]), all.select(parts[2])});
  }
  return splits;
}

// Half for training, a quarter for validation, a quarter for testing, as the paper has it.
std::vector<ComparisonSplit> random_splits(const Dataset& all, Index count, const Rng& rng) {
  const Dataset data = labelled_only(all);
  std::vector<ComparisonSplit> splits;
  for (const Split& outer : resample(data, {.repeats = count, .held_out = 0.25}, rng.split("test"))) {
    const Dataset rest = data.select(outer.train);
    const Split inner =
        stratified_split(rest.labels, rest.views.size(), 1.0 / 3, rng.split("validation", splits.size()));
    splits.push_back({rest.select(inner.train), rest.select(inner.test), data.select(outer.test)});
  }
  return splits;
}

// A test set is given; what varies is which third of the rest is for validation.
std::vector<ComparisonSplit> validation_splits(const Dataset& rest, const Dataset& test, Index count, const Rng& rng) {
  std::vector<ComparisonSplit> splits;
  for (Index s = 0; s < count; ++s) {
    const Split inner = stratified_split(rest.labels, rest.views.size(), 1.0 / 3,
                                         rng.split("validation", static_cast<std::uint64_t>(s)));
    splits.push_back({rest.select(inner.train), rest.select(inner.test), test});
  }
  return splits;
}

class Breast {
 public:
  Breast(const ReproduceRequest& request, const Session& session) : request_(request), options_(usual_options()) {
    if (request.tune > 0) space_ = parse_space(std::string(find_space_preset("breast").toml), "breast");
    apply_request(request, session, options_, space_);
    splits_ = request.splits > 0 ? request.splits : kUsualSplits;
  }

  PaperExperiment make() {
    const std::string modules = folder("breast_tcga583"), genes = folder("breast_tcga");
    const bool has_modules = has_file(modules, "mirna_modules"), has_genes = has_file(genes, "mirna_train");
    if (!has_modules && !has_genes) {
      throw InputError("--data",
                       fmt::format("'{}' has neither breast_tcga583/mirna_modules.csv.gz (tumours of Huang et "
                                   "al. 2019, github.com/huangzhii/SALMON) nor breast_tcga/mirna_train.csv.gz "
                                   "(breast.TCGA of the R package mixOmics)",
                                   request_.data));
    }
    if (has_modules) add_modules(modules);
    if (has_genes) add_genes(genes);
    experiment_.facts.insert(
        experiment_.facts.begin(),
        {{"accuracy", "from the micro-RNA view alone; the other view is there in training only"},
         {"splits", splits_text_},
         {"settings", request_.tune > 0
                          ? std::string("searched in the paper's ranges, the best on each split's validation samples")
                          : fmt::format("{} hidden layers of {}, {} epochs, the best on the validation samples kept; "
                                        "not tuned",
                                        options_.hidden_layers, options_.hidden_size, options_.epochs)}});
    experiment_.remarks =
        "The paper's cohort (CBCS) is private: its figures, 0.02 to 0.05 above a network of one view, are of other "
        "tumours, views and labels: " +
        paper_text();
    return std::move(experiment_);
  }

 private:
  [[nodiscard]] std::string folder(const char* name) const {
    const fs::path inside = fs::path(request_.data) / name;
    std::error_code ignored;
    return fs::is_directory(inside, ignored) ? inside.string() : request_.data;
  }

  static std::string paper_text() {
    return "Basal from images svm 0.777, nn 0.808, ccal 0.807, tocca-w 0.830, -sd 0.818, -nd 0.816; grade from genes "
           "0.832, 0.830, 0.804, 0.862, 0.856, 0.856.";
  }

  void add(const std::string& name, std::vector<ComparisonSplit> splits) {
    Cell cell{name, {}};
    Comparison& comparison = cell.comparison;
    comparison.methods = request_.methods;
    if (request_.methods.empty()) comparison.methods = {"svm", "nn", "ccal-ce", "tocca-w", "tocca-sd", "tocca-nd"};
    comparison.options = options_;
    comparison.space = space_;
    comparison.scoring.metric = {"accuracy", {}, "mirna"};
    comparison.splits = std::move(splits);
    comparison.tune = request_.tune;
    comparison.baseline = "";
    experiment_.cells.push_back(std::move(cell));
  }

  void add_modules(const std::string& path) {
    const std::string given = (fs::path(request_.data) / "splits").string();
    const bool has_splits = has_file(given, "breast_tcga583");
    splits_text_ = has_splits ? "as given: half for training, a quarter for validation, a quarter for testing"
                              : "random: half for training, a quarter for validation, a quarter for testing";
    const std::vector<std::string> labels =
        request_.labels.empty() ? std::vector<std::string>{"er", "pr", "subtype"} : request_.labels;
    for (const std::string& label : labels) {
      const Dataset all = read_tumours(path, {"mirna_modules", "rna_modules", "labels", label}, "rna");
      auto splits = has_splits ? given_splits(all, find_file(given, "breast_tcga583"), splits_)
                               : random_splits(all, splits_, Rng(options_.seed).split(label));
      add(fmt::format("583 tumours, {}", label), std::move(splits));
    }
    experiment_.facts.emplace_back("583 tumours",
                                   "12 micro-RNA modules; 57 RNA modules in training (Huang et al. 2019)");
  }

  void add_genes(const std::string& path) {
    const Dataset rest = read_tumours(path, {"mirna_train", "mrna_train", "labels_train", "subtype"}, "mrna");
    const Dataset test =
        read_tumours(path, {"mirna_test", "mrna_test", "labels_test", "subtype"}, "mrna", &rest.labels.classes);
    add("220 tumours, subtype", validation_splits(rest, test, splits_, Rng(options_.seed).split("mixomics")));
    experiment_.facts.emplace_back("220 tumours",
                                   "184 micro-RNAs; 200 genes in training; the given test set of 70, a random third of "
                                   "the rest for validation (Rohart et al. 2017)");
  }

  const ReproduceRequest& request_;
  Options options_;
  SearchSpace space_;
  Index splits_ = 0;
  std::string splits_text_ = "a given test set";
  PaperExperiment experiment_{.name = "breast", .title = "A second view in training only: breast cancer"};
};

}  // namespace

PaperExperiment breast_experiment(const ReproduceRequest& request, const Session& session, const Context&) {
  return Breast(request, session).make();
}

}  // namespace tocca::cli
