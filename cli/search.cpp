#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "cli/selection.h"
#include "cli/settings.h"
#include "cli/trial_table.h"
#include "tocca/core/error.h"
#include "tocca/methods/resolve.h"

namespace tocca::cli {
namespace {

struct SearchRequest {
  DataRequest data;
  SettingsRequest settings;
  SpaceRequest space;
  ResamplingRequest resampling;
  Index trials = 50;
  std::string store, study = "search", metric, best, exported;
  Index halving = 0;
  Index rungs = 3;
};

// The samples that a search sees: with --split those for training, and for validation apart.
struct SearchSamples {
  Dataset training;
  std::optional<Dataset> validation;
  Dataset all;  ///< both

  [[nodiscard]] SearchData data() const { return {training, validation ? &*validation : nullptr}; }
};

SearchSamples samples_of(const SearchRequest& request, const LoadedData& data, const Dataset& dataset,
                         Session& session) {
  if (request.resampling.split.empty()) return {dataset, std::nullopt, dataset};
  const std::vector<GivenSplit> splits = load_splits(request.resampling.split, request.data, data, dataset, session);
  if (splits.size() != 1) {
    throw InputError("--split", fmt::format("got {} columns, need one; name it, as in FILE:COLUMN", splits.size()));
  }
  const GivenSplit& split = splits[0];
  std::vector<Index> both = split.train;
  both.insert(both.end(), split.validation.begin(), split.validation.end());
  std::sort(both.begin(), both.end());
  SearchSamples samples{dataset.select(split.train), std::nullopt, dataset.select(both)};
  if (!split.validation.empty()) samples.validation = dataset.select(split.validation);
  session.note(fmt::format("split    {} for training, {} for validation, {} for testing are left alone\n",
                           split.train.size(), split.validation.size(), split.test.size()));
  return samples;
}

SearchOptions search_options(const SearchRequest& request, const Options& options, const SearchSamples& samples,
                             Session& session) {
  SearchOptions search;
  search.options = options;
  SearchSpace space = load_space(request.space);
  fix_settings(request.settings, space);
  for (const auto& [name, value] : space.options) set_option(search.options, name, value);
  const Method method = resolve(search.options, views_of(search.options, samples.training));
  // Where the recipe itself varies, what has no effect on one trial may have one on another.
  if (!varies_recipe(space)) {
    warn_without_effect(request.settings, {method}, search.options, true, session);
  }
  search.space = restrict_space(space, method);
  if (search.space.parameters.empty()) {
    throw InputError("search", fmt::format("nothing in the space has an effect on method '{}'", method.name));
  }
  search.scoring.metric = request.metric.empty() ? usual_metric(samples.training, method)
                                                 : parse_metric(request.metric, samples.training.views);
  search.resampling = make_resampling(request.resampling, {.folds = 5});
  search.trials = request.trials;
  if (request.halving != 0) search.halving = Halving{request.halving, request.rungs};
  return search;
}

nlohmann::ordered_json json_trials(const SearchResult& result, const SearchOptions& search, Index n) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const TrialRecord& trial : result.trials) {
    nlohmann::ordered_json row{{"method", search.options.method},
                               {"n", n},
                               {"train_view", ""},
                               {"test_view", search.scoring.metric.view.empty() ? "all" : search.scoring.metric.view},
                               {"metric", search.scoring.metric.text()},
                               {"mean", trial.value},
                               {"se", trial.standard_error},
                               {"splits", trial.folds.size()},
                               {"trial", trial.number},
                               {"state", name_of(trial.state)},
                               {"rung", trial.rung},
                               {"seed", trial.seed},
                               {"seconds", trial.seconds}};
    if (!trial.reason.empty()) row["reason"] = trial.reason;
    for (const auto& [name, value] : trial.settings) row[name] = value;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string best_text(const SearchResult& result, const SearchOptions& search) {
  if (!result.best) return "";
  const TrialRecord& best = result.trials[*result.best];
  std::string text = fmt::format("\nbest     trial {}: {} {}\nas flags, besides your own", best.number,
                                 search.scoring.metric.text(), value_text(best.value, best.standard_error));
  for (const NamedTexts* texts : {&search.space.options, &best.settings}) {
    for (const auto& [name, value] : *texts) text += fmt::format(" --set {}={}", name, value);
  }
  return text + '\n';
}

void write_best(const SearchRequest& request, const Dataset& all, const LabelledData& labelled,
                const SearchOptions& search, const SearchResult& result, Session& session, const Context& context) {
  FitResult fitted = refit(all, search, result.trials[*result.best], context);
  if (context.cancelled()) throw Interrupted("search", "interrupted in the last fit; the same command repeats it");
  fitted.model.label_column = labelled.label_column;
  save_model(fitted.model, request.best);
  session.note(fmt::format("model    {}, fitted to all {} samples\n", request.best, all.views.size()));
}

void tell(const SearchRequest& request, const SearchResult& result, const SearchOptions& search, Index n,
          Session& session) {
  session.result(best_trials_text(result, search.scoring.metric));
  session.note(best_text(result, search));
  if (result.failed > 0) {
    session.warn(fmt::format("{} of {} trials failed; the reasons are in the store and with --export", result.failed,
                             result.trials.size()));
  }
  nlohmann::ordered_json more{{"study", request.study},
                              {"store", request.store},
                              {"failed", result.failed},
                              {"interrupted", result.interrupted}};
  more["best"] = result.best ? nlohmann::ordered_json(result.trials[*result.best].number) : nullptr;
  session.json(json_trials(result, search, n), search.options.seed, more);
}

void check_outputs(const SearchRequest& request) {
  std::vector<std::string> inputs = input_files(request.data);
  for (const std::string& file : input_files(request.resampling)) inputs.push_back(file);
  inputs.push_back(request.settings.config);
  inputs.push_back(request.space.file);
  for (const auto& [option, path] :
       {std::pair{"--store", &request.store}, {"--best", &request.best}, {"--export", &request.exported}}) {
    if (path->empty()) continue;
    require_writable(option, *path);
    require_not_input(option, *path, inputs);
  }
  std::vector<std::pair<std::string, std::string>> outputs = store_files("--store", request.store);
  outputs.insert(outputs.end(), {{"--best", request.best}, {"--export", request.exported}});
  require_distinct(outputs);
}

int run_search_command(const SearchRequest& request, Session& session) {
  if (request.space.show) {
    show_space(request.space, session);
    return kSuccess;
  }
  check_outputs(request);
  Options options;
  apply_settings(request.settings, session, options);
  const LoadedData data = load(request.data, session);
  const LabelledData labelled = load_labelled(request.data, request.settings, data, options, session);
  const SearchSamples samples = samples_of(request, data, labelled.dataset, session);
  const SearchOptions search = search_options(request, options, samples, session);
  const std::unique_ptr<TrialStore> store = open_store(request.store, session);
  Context context = session.context(options.threads);
  SearchResult result;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    result = run_search(*store, request.study, samples.data(), search, context);
    if (!request.exported.empty()) write_trials_csv(request.exported, result, search.scoring.metric);
    tell(request, result, search, samples.training.views.size(), session);
    if (!result.reason.empty()) throw Error("search", result.reason);
    if (!request.best.empty() && result.best && !result.interrupted) {
      write_best(request, samples.all, labelled, search, result, session, context);
    }
  }
  if (!result.interrupted) return kSuccess;
  session.warn(request.store.empty() ? "interrupted: the table holds what was finished"
                                     : "interrupted: the same command goes on from there");
  return kInterrupted;
}

}  // namespace

Action set_up_search(CLI::App& app) {
  const auto request = std::make_shared<SearchRequest>();
  add_data_options(app, request->data, LabelUse::optional);
  app.get_option("--view")->required(false);  // --show-space needs no data
  add_settings_options(app, request->settings);
  add_space_options(app, request->space);
  app.add_option("--trials", request->trials, "Trials in all, those that the store has included")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--store", request->store,
                 "SQLite file that keeps the trials; the same command goes on where it stopped, and several processes "
                 "may work on it at once")
      ->type_name("FILE.db");
  app.add_option("--study", request->study, "Name of this search among those in the store")
      ->type_name("NAME")
      ->capture_default_str();
  add_resampling_options(app, request->resampling, "--holdout");
  add_groups_option(app, request->data);
  app.add_option("--split", request->resampling.split,
                 "A column of words train, val, test, none: fitted on train, scored on val")
      ->type_name("FILE[:COLUMN]");
  app.add_option("--metric", request->metric,
                 "What is maximised (accuracy, cross_view_accuracy, concordance, ...; METRIC:VIEW for one view)")
      ->type_name("METRIC");
  CLI::Option* const halving =
      app.add_option(
             "--halving", request->halving,
             "Successive halving: train all trials a little, one in N of them on, and one in N of those to the end")
          ->type_name("N");
  app.add_option("--rungs", request->rungs, "Stages of successive halving")
      ->type_name("N")
      ->needs(halving)
      ->capture_default_str();
  app.add_option("--best", request->best, "Model file: the best settings fitted to all samples but those for testing")
      ->type_name("OUT");
  app.add_option("--export", request->exported, "All trials as a table")->type_name("FILE.csv");
  return [request](Session& session) { return run_search_command(*request, session); };
}

}  // namespace tocca::cli
