#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/comparison_table.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "cli/selection.h"
#include "cli/settings.h"
#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/methods/resolve.h"
#include "tocca/report/html.h"
#include "tocca/report/records.h"
#include "tocca/report/text.h"

namespace tocca::cli {
namespace {

constexpr Index kUsualSplits = 5;

struct CompareRequest {
  DataRequest data;
  SettingsRequest settings;
  SpaceRequest space;
  ResamplingRequest resampling;
  Index splits = 0;  ///< 0: not given
  Index tune = 0;
  Index inner_folds = 5;
  std::vector<std::string> methods{"rcca", "svm", "nn", "tocca-w", "tocca-sd", "tocca-nd"};
  std::string store, metric, baseline, out;
  bool shuffle_labels = false;
};

// Every label, and every value of a target, goes to a sample drawn at random among those that have one.
void shuffle_labels(Dataset& dataset, const Rng& rng) {
  const auto shuffled = [&](const char* name, auto known) {
    std::vector<Index> from;
    for (Index i = 0; i < dataset.views.size(); ++i) {
      if (known(i)) from.push_back(i);
    }
    std::vector<Index> to = from;
    rng.split(name).shuffle(to);
    return std::pair{from, to};
  };
  const std::vector<int> codes = dataset.labels.codes;
  if (!codes.empty()) {
    const auto [from, to] = shuffled("labels", [&](Index i) { return codes[static_cast<std::size_t>(i)] >= 0; });
    for (std::size_t k = 0; k < from.size(); ++k) {
      dataset.labels.codes[static_cast<std::size_t>(to[k])] = codes[static_cast<std::size_t>(from[k])];
    }
  }
  for (Target& target : dataset.targets) {
    const Target before = target;
    const auto [from, to] = shuffled("target", [&](Index i) { return before.known(i); });
    std::vector<Index> order(static_cast<std::size_t>(before.size()));
    for (Index i = 0; i < before.size(); ++i) order[static_cast<std::size_t>(i)] = i;
    for (std::size_t k = 0; k < from.size(); ++k) order[static_cast<std::size_t>(to[k])] = from[k];
    target = before.select(order);
  }
}

struct Cut {
  std::vector<ComparisonSplit> splits;
  std::string text;
};

// The same split twice would count as two that agree.
void require_new(const GivenSplit& split, std::map<std::vector<Index>, std::string>& seen) {
  const auto [there, is_new] = seen.emplace(split.test, split.column);
  if (is_new) return;
  throw InputError("--split", fmt::format("columns '{}' and '{}' have the same test samples; need each split once",
                                          there->second, split.column));
}

Cut given_splits(const CompareRequest& request, const LoadedData& data, const Dataset& dataset, Session& session) {
  Cut cut{{}, fmt::format("as in {}", request.resampling.split) + (dataset.groups.empty() ? "" : ", groups together")};
  std::map<std::vector<Index>, std::string> seen;
  for (const GivenSplit& given : load_splits(request.resampling.split, request.data, data, dataset, session)) {
    if (given.test.empty()) {
      throw InputError("--split", fmt::format("column '{}': no sample has the word test", given.column));
    }
    ComparisonSplit split{dataset.select(given.train), std::nullopt, dataset.select(given.test)};
    if (!given.validation.empty()) split.validation = dataset.select(given.validation);
    cut.splits.push_back(std::move(split));
    require_new(given, seen);
  }
  return cut;
}

Cut make_splits(const CompareRequest& request, const LoadedData& data, const Dataset& dataset, std::uint64_t seed,
                Session& session) {
  const ResamplingRequest& asked = request.resampling;
  if (request.splits > 0 && !(asked.folds.empty() && asked.repeats.empty() && asked.split.empty())) {
    throw InputError("--splits", "--folds, --repeats or --split says how many splits there are, too; need one of them");
  }
  const Resampling usual{.repeats = request.splits > 0 ? request.splits : kUsualSplits, .held_out = 0.25};
  Resampling how = make_resampling(request.resampling, usual);
  if (!request.resampling.split.empty()) return given_splits(request, data, dataset, session);
  if (how.folds > 0 && request.resampling.repeats.empty()) how.repeats = 1;
  Cut cut{{}, how.text() + (dataset.groups.empty() ? "" : ", groups together")};
  for (const Split& split : resample(dataset, how, Rng(seed).split("compare"))) {
    cut.splits.push_back({dataset.select(split.train), std::nullopt, dataset.select(split.test)});
  }
  return cut;
}

std::vector<std::pair<std::string, std::string>> facts(const Comparison& comparison, const Cut& cut,
                                                       const Dataset& dataset, const CompareRequest& request) {
  const ComparisonSplit& split = comparison.splits[0];
  std::vector<std::pair<std::string, std::string>> facts{
      {"samples", fmt::format("{}", dataset.views.size())},
      {"splits", cut.text},
      {"training, test", fmt::format("{}, {} (first split)", split.training.views.size(), split.test.views.size())},
      {"metric", comparison.scoring.metric.text()}};
  if (comparison.tune > 0) {
    facts.emplace_back("settings", fmt::format("best of {} trials inside each training part, on {}", comparison.tune,
                                               split.validation ? "the validation set" : comparison.inner.text()));
  }
  if (request.shuffle_labels) facts.emplace_back("labels", "shuffled: every method should be at chance");
  return facts;
}

Comparison make_comparison(const CompareRequest& request, const Dataset& dataset, const Options& options,
                           const Cut& cut) {
  Comparison comparison;
  comparison.options = options;
  comparison.methods = request.methods;
  comparison.splits = cut.splits;
  comparison.tune = request.tune;
  comparison.baseline = request.baseline;
  comparison.inner = {.folds = request.inner_folds};
  if (request.tune > 0) {
    comparison.space = load_space(request.space);
    fix_settings(request.settings, comparison.space);
  } else if (request.space.given()) {
    throw InputError(request.space.file.empty() ? "--preset" : "--space",
                     "nothing is searched without --tune N, the number of trials");
  }
  if (!request.metric.empty()) {
    comparison.scoring.metric = parse_metric(request.metric, dataset.views);
  } else {
    const Options first = options_for(comparison, request.methods.at(0));
    comparison.scoring.metric = usual_metric(dataset, resolve(first, views_of(first, dataset)));
  }
  return comparison;
}

void write_results(const std::string& folder, Report report, const ComparisonResult& result,
                   const Comparison& comparison) {
  const std::filesystem::path place(folder);
  write_file((place / "results.csv").string(), [&](std::ostream& out) { out << csv(report); });
  write_file((place / "splits.csv").string(), [&](std::ostream& out) { write_splits_csv(out, result, comparison); });
  write_file((place / "report.html").string(), [&](std::ostream& out) { out << html(report); });
}

// What can be said before anything is read.
void check(const CompareRequest& request) {
  std::vector<std::string> inputs = input_files(request.data);
  for (const std::string& file : input_files(request.resampling)) inputs.push_back(file);
  for (const std::string* file : {&request.space.file, &request.settings.config}) inputs.push_back(*file);
  if (!request.store.empty()) require_not_input("--store", request.store, inputs);
  std::vector<std::pair<std::string, std::string>> outputs = store_files("--store", request.store);
  for (const char* file : {"report.html", "results.csv", "splits.csv"}) {
    if (request.out.empty()) continue;
    outputs.emplace_back("--out", (std::filesystem::path(request.out) / file).string());
    require_not_input("--out", outputs.back().second, inputs);
  }
  require_distinct(outputs);
  if (request.splits < 0 || request.splits > 1000) {
    throw InputError("--splits", fmt::format("got {}, need 1 to 1000", request.splits));
  }
  if (request.tune < 0) throw InputError("--tune", fmt::format("got {}, need 0 or more", request.tune));
}

// Whether a method has nothing to show at all.
bool tell_failures(const ComparisonResult& result, Session& session) {
  if (result.failed > 0) {
    session.warn(
        fmt::format("{} fit{} failed; the table is of the others", result.failed, result.failed == 1 ? "" : "s"));
  }
  bool nothing = false;
  for (const MethodOutcome& outcome : result.methods) {
    if (std::isfinite(outcome.mean.mean)) continue;
    nothing = true;
    const auto failed = std::find_if(outcome.splits.begin(), outcome.splits.end(),
                                     [](const TrialRecord& trial) { return trial.state == TrialState::failed; });
    session.warn(
        fmt::format("{} has no value: {}", outcome.method,
                    failed != outcome.splits.end() ? failed->reason : "the metric could not be measured in any split"));
  }
  return nothing;
}

int run_compare(const CompareRequest& request, Session& session) {
  if (request.space.show) {
    show_space(request.space, session);
    return kSuccess;
  }
  check(request);
  Options options;
  apply_settings(request.settings, session, options);
  const LoadedData data = load(request.data, session);
  if (data.label_path.empty()) throw InputError("compare", "need --labels FILE[:COLUMN]");
  LabelledData labelled = load_labelled(request.data, request.settings, data, options, session);
  if (request.shuffle_labels) shuffle_labels(labelled.dataset, Rng(options.seed).split("shuffled labels"));
  if (!request.out.empty()) require_folder("--out", request.out);
  Context context = session.context(options.threads);
  const Cut cut = make_splits(request, data, labelled.dataset, options.seed, session);
  const Comparison comparison = make_comparison(request, labelled.dataset, options, cut);
  std::vector<Method> methods;
  for (const std::string& name : comparison.methods) {
    const Options own = options_for(comparison, name);
    methods.push_back(resolve(own, views_of(own, labelled.dataset)));
  }
  const bool given = std::all_of(cut.splits.begin(), cut.splits.end(),
                                 [](const ComparisonSplit& split) { return split.validation.has_value(); });
  if (!varies_recipe(comparison.space)) warn_without_effect(request.settings, methods, options, given, session);
  const std::unique_ptr<TrialStore> store = open_store(request.store, session);
  ComparisonResult result;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    result = run_comparison(*store, comparison, context);
  }
  Report report = session.report("Comparison of methods", options.seed);
  report.rows = result_rows(result, comparison);
  report.facts = facts(comparison, cut, labelled.dataset, request);
  for (const auto& fact : difference_facts(result, comparison)) report.facts.push_back(fact);
  if (result.interrupted) report.facts.emplace_back("interrupted", "the table holds what was finished");
  session.result(comparison_text(result, comparison));
  session.note(differences_text(result, comparison));
  if (!request.out.empty()) {
    write_results(request.out, report, result, comparison);
    session.note(fmt::format("\n{0}/report.html, {0}/results.csv and {0}/splits.csv are written.\n", request.out));
  }
  session.json(json_comparison(result, comparison), options.seed,
               {{"differences", json_differences(result, comparison)},
                {"failed", result.failed},
                {"interrupted", result.interrupted}});
  if (!result.interrupted) return tell_failures(result, session) ? kFailed : kSuccess;
  session.warn(request.store.empty() ? "interrupted: the table holds what was finished"
                                     : "interrupted: the same command goes on from there");
  return kInterrupted;
}

}  // namespace

Action set_up_compare(CLI::App& app) {
  const auto request = std::make_shared<CompareRequest>();
  add_data_options(app, request->data, LabelUse::optional);
  app.get_option("--view")->required(false);  // --show-space needs no data
  add_settings_options(app, request->settings);
  app.remove_option(app.get_option("--method"));
  app.add_option("--methods", request->methods, "Methods, separated by commas")
      ->type_name("A,B,C")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--splits", request->splits,
                 "Random splits into training and test samples, each class alike (default 5)")
      ->type_name("N");
  add_resampling_options(app, request->resampling, "--test");
  add_groups_option(app, request->data);
  app.add_option("--split", request->resampling.split,
                 "Columns of words train, val, test, none, a split each, in place of random ones")
      ->type_name("FILE[:COLUMN,...]");
  app.add_option("--metric", request->metric,
                 "What is compared (accuracy, cross_view_accuracy, concordance, ...; METRIC:VIEW for one view)")
      ->type_name("METRIC");
  app.add_option("--baseline", request->baseline, "Method that the others are tested against (default: the first)")
      ->type_name("METHOD");
  CLI::Option* const tune =
      app.add_option("--tune", request->tune,
                     "Search settings with N trials inside each training part (nested search); 0: as they are set")
          ->type_name("N")
          ->capture_default_str();
  app.add_option("--inner-folds", request->inner_folds,
                 "Folds of that search where there is no validation set; 0: one random split")
      ->type_name("K")
      ->needs(tune)
      ->capture_default_str();
  add_space_options(app, request->space);
  app.add_flag("--shuffle-labels", request->shuffle_labels,
               "Give every label to a random sample first: a check, all methods must then be at chance");
  app.add_option("--store", request->store, "SQLite file that keeps the results; the same command goes on from there")
      ->type_name("FILE.db");
  app.add_option("--out", request->out, "Folder for report.html, results.csv and splits.csv")->type_name("DIR");
  return [request](Session& session) { return run_compare(*request, session); };
}

}  // namespace tocca::cli
