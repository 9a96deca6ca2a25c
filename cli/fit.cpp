#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command.h"
#include "cli/figures.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "cli/settings.h"
#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/methods/methods.h"
#include "tocca/methods/resolve.h"
#include "tocca/report/html.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct FitRequest {
  DataRequest data;
  SettingsRequest settings;
  std::string model;
  std::string report;
  std::string checkpoint;
};

std::string data_text(const LoadedData& data, const Dataset& dataset) {
  std::vector<std::vector<std::string>> rows{{"view", "samples", "columns", "file"}};
  for (std::size_t v = 0; v < data.paths.size(); ++v) {
    const View& view = data.views.views[v];
    rows.push_back({view.name, fmt::format("{}", view.present()), fmt::format("{}", view.columns()), data.paths[v]});
  }
  std::string text =
      align(rows) + fmt::format("\nsamples  {}, joined {}\n", data.views.size(), data.by_id ? "by id" : "row by row");
  if (!dataset.labels.codes.empty()) {
    text += fmt::format("labels   {} of {} samples, {} classes ({})\n", dataset.labels.labelled(), data.views.size(),
                        dataset.labels.class_count(), data.label_path);
  }
  if (!dataset.groups.empty()) {
    const std::set<Index> groups(dataset.groups.begin(), dataset.groups.end());
    text += fmt::format("groups   {}\n", groups.size());
  }
  for (const Target& target : dataset.targets) {
    text += fmt::format("target   {} of {} samples, {} of {} ({})\n", target.known(), data.views.size(),
                        name_of(target.kind), target.name(), data.label_path);
  }
  return text;
}

// The epoch whose weights were kept; null where nothing was iterated.
const EpochRecord* best_epoch(const TrainSummary& summary) {
  if (summary.best_epoch < 1 || summary.history.empty()) return nullptr;
  return &summary.history[static_cast<std::size_t>(summary.best_epoch - 1)];
}

// What the held-out score of the heads measures.
std::string score_name(const FittedModel& model) {
  if (!model.network || model.network->shape.heads.size() != 1) return "score of all tasks";
  return std::string(metric_of(model.network->shape.heads[0].kind));
}

// "" for a linear method without anything to tell.
std::string training_text(const FittedModel& model, const TrainSummary& summary) {
  std::string text;
  if (!summary.message.empty()) text += fmt::format("fit      {}\n", summary.message);
  const EpochRecord* best = best_epoch(summary);
  if (best != nullptr && !std::isnan(best->validation_score)) {
    text += fmt::format("held out {} {:.3f}{}", score_name(model), best->validation_score,
                        model.view_count() > 1 ? " (mean over the views)" : "");
    if (!std::isnan(best->sum_correlation)) text += fmt::format(", sum correlation {:.3f}", best->sum_correlation);
    text += '\n';
  }
  return text;
}

std::string correlation_text(const FittedModel& model) {
  std::string text;
  for (const CanonicalPair& pair : model.pairs) {
    text += fmt::format(
        "sum correlation of {} and {} in training: {:.3f} of {}\n", model.views[static_cast<std::size_t>(pair.u)].name,
        model.views[static_cast<std::size_t>(pair.v)].name, pair.correlations.sum(), pair.correlations.size());
  }
  return text;
}

std::vector<ResultRow> result_rows(const FitResult& result, Index samples) {
  const FittedModel& model = result.model;
  std::vector<ResultRow> rows;
  const EpochRecord* best = best_epoch(result.summary);
  if (best != nullptr && !std::isnan(best->validation_score)) {
    rows.push_back({model.method, samples, "all", "validation", score_name(model), best->validation_score, kNan, 1});
    rows.push_back({model.method, samples, "all", "validation", "sum_correlation", best->sum_correlation, kNan, 1});
  }
  for (const CanonicalPair& pair : model.pairs) {
    rows.push_back({model.method, samples, model.views[static_cast<std::size_t>(pair.u)].name,
                    model.views[static_cast<std::size_t>(pair.v)].name, "training_sum_correlation",
                    pair.correlations.sum(), kNan, 1});
  }
  return rows;
}

void write_history(const std::string& path, const TrainSummary& summary) {
  const auto cell = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); };
  write_file(path, [&](std::ostream& out) {
    out << "epoch,task,agreement,decorrelation,reconstruction,separation,weight_decay,validation_score,validation_loss,"
           "sum_"
           "correlation\n";
    for (const EpochRecord& epoch : summary.history) {
      out << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", epoch.epoch, cell(epoch.terms.task),
                         cell(epoch.terms.agreement), cell(epoch.terms.decorrelation), cell(epoch.terms.reconstruction),
                         cell(epoch.terms.separation), cell(epoch.weight_decay), cell(epoch.validation_score),
                         cell(epoch.validation_loss), cell(epoch.sum_correlation));
    }
  });
}

void write_report(const std::string& folder, const FitResult& result, const Dataset& dataset, const Options& options,
                  const Session& session, const Context& context) {
  Report report =
      session.report(fmt::format("{} fitted to {} samples", options.method, dataset.views.size()), options.seed);
  report.rows = result_rows(result, dataset.views.size());
  for (const View& view : dataset.views.views) {
    report.facts.emplace_back(view.name, fmt::format("{} samples × {} columns", view.present(), view.columns()));
  }
  report.facts.insert(report.facts.end(), result.model.provenance.begin(), result.model.provenance.end());
  report.facts.insert(report.facts.end(), result.model.options.begin(), result.model.options.end());
  const Dataset matched{match_views(result.model, dataset.views, context), dataset.labels, {}};
  report.figures = space_figures(result.model, matched, "samples it was fitted on", context);
  const std::filesystem::path place(folder);
  write_file((place / "report.html").string(), [&](std::ostream& out) { out << html(report); });
  write_history((place / "history.csv").string(), result.summary);
}

nlohmann::ordered_json json_views(const LoadedData& data, const FittedModel& model) {
  nlohmann::ordered_json views = nlohmann::ordered_json::array();
  for (std::size_t v = 0; v < data.paths.size(); ++v) {
    const View& view = data.views.views[v];
    views.push_back(
        {{"view", view.name}, {"file", data.paths[v]}, {"samples", view.present()}, {"columns", view.columns()}});
    // Fused views are standardised as one, whose columns they are not.
    if (model.fused.empty()) views.back()["constant"] = model.views[v].standardizer.constant.size();
  }
  return views;
}

void tell(const FitRequest& request, const LoadedData& data, const FitResult& result, const Options& options,
          Session& session) {
  const TrainSummary& summary = result.summary;
  session.note(training_text(result.model, summary) + correlation_text(result.model) +
               fmt::format("model    {}\n", request.model));
  if (!request.report.empty()) session.note(fmt::format("report   {}/report.html\n", request.report));
  session.json(json_rows(result_rows(result, data.views.size())), options.seed,
               {{"method", options.method},
                {"model", request.model},
                {"samples", data.views.size()},
                {"status", name_of(summary.status)},
                {"message", summary.message},
                {"epochs", summary.epochs},
                {"best_epoch", summary.best_epoch},
                {"seconds", summary.seconds},
                {"views", json_views(data, result.model)}});
}

int run_fit(const FitRequest& request, Session& session) {
  Options options;
  apply_settings(request.settings, session, options);
  require_writable("--model", request.model);
  std::vector<std::string> inputs = input_files(request.data);
  inputs.push_back(request.settings.config);
  std::vector<std::pair<std::string, std::string>> outputs{{"--model", request.model}};
  if (!request.checkpoint.empty()) {
    require_writable("--checkpoint", request.checkpoint);
    outputs.emplace_back("--checkpoint", request.checkpoint);
  }
  for (const char* file : {"report.html", "history.csv"}) {
    if (request.report.empty()) continue;
    outputs.emplace_back("--report", (std::filesystem::path(request.report) / file).string());
  }
  require_distinct(outputs);
  for (const auto& [option, path] : outputs) require_not_input(option, path, inputs);
  const LoadedData data = load(request.data, session);
  const LabelledData labelled = load_labelled(request.data, request.settings, data, options, session);
  const Dataset& dataset = labelled.dataset;
  session.note(data_text(data, dataset));
  if (!data.label_path.empty() && dataset.targets.empty() && dataset.labels.labelled() == 0) {
    session.warn(fmt::format("no sample has a label in {}: fitting without labels", data.label_path));
  }
  if (!request.report.empty()) require_folder("--report", request.report);

  Context context = session.context(options.threads);
  context.checkpoint = request.checkpoint;
  FitResult result;
  {
    const InterruptScope interrupt;
    context.cancel = InterruptScope::flag();
    result = fit(dataset, nullptr, options, context);
    context.cancel = nullptr;
    result.model.label_column = labelled.label_column;
    save_model(result.model, request.model);
  }
  if (!request.report.empty()) write_report(request.report, result, dataset, options, session, context);
  const Method method = resolve(options, views_of(options, dataset));
  warn_without_effect(request.settings, {method}, options, false, session);
  if (!request.checkpoint.empty() && method.family != Family::deep) {
    session.warn(fmt::format("--checkpoint is without effect: method '{}' is fitted in one go", method.name));
  }
  tell(request, data, result, options, session);
  if (result.summary.status != TrainStatus::interrupted) return kSuccess;
  session.warn(fmt::format("interrupted: the model so far is saved in {}", request.model));
  return kInterrupted;
}

}  // namespace

Action set_up_fit(CLI::App& app) {
  const auto request = std::make_shared<FitRequest>();
  add_data_options(app, request->data, LabelUse::optional);
  add_groups_option(app, request->data);
  add_settings_options(app, request->settings);
  app.add_option("--model", request->model, "Model file to write (safetensors)")->type_name("OUT")->required();
  app.add_option(
         "--checkpoint", request->checkpoint,
         "File for the state of training, written every half minute and when interrupted; the same command goes "
         "on from it. Removed at the end")
      ->type_name("FILE");
  app.add_option("--report", request->report, "Folder for report.html and history.csv")->type_name("DIR");
  return [request](Session& session) { return run_fit(*request, session); };
}

}  // namespace tocca::cli
