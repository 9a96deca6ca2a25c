#include "cli/settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <set>
#include <variant>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"
#include "tocca/methods/methods.h"
#include "tocca/methods/relevance.h"
#include "tocca/methods/resolve.h"
#include "tocca/methods/tasks.h"

namespace tocca::cli {
namespace {

const OptionField& find_field(const std::string& where, std::string_view key) {
  std::vector<std::string> names;
  for (const OptionField& field : option_fields()) {
    if (field.name == key) return field;
    names.emplace_back(field.name);
  }
  throw InputError(where, unknown_name("key", key, names));
}

std::string_view type_name(const toml::node& node) {
  if (node.is_string()) return "a text";
  if (node.is_boolean()) return "true or false";
  if (node.is_integer() || node.is_floating_point()) return "a number";
  return node.is_table() ? "a table" : node.is_array() ? "an array" : "a date or time";
}

std::string value_text(const std::string& where, const OptionField& field, const toml::node& node) {
  const bool text = std::holds_alternative<std::string Options::*>(field.member);
  const bool real = std::holds_alternative<double Options::*>(field.member);
  if (text && node.is_string()) return node.as_string()->get();
  if (node.is_integer()) return fmt::format("{}", node.as_integer()->get());
  if ((real || text) && node.is_floating_point()) return fmt::format("{}", node.as_floating_point()->get());
  if (text && node.is_array()) {  // [10, 5], for a list such as "10,5"
    std::vector<std::string> parts;
    for (const toml::node& part : *node.as_array()) {
      if (part.is_array()) throw InputError(where, fmt::format("{}: got an array in an array, need one", field.name));
      parts.push_back(value_text(where, field, part));
    }
    if (parts.empty()) throw InputError(where, fmt::format("{}: got an empty array", field.name));
    return join(parts, ",");
  }
  throw InputError(where, fmt::format("{}: got {}, need {}", field.name, type_name(node),
                                      text   ? "a text in quotes"
                                      : real ? "a number"
                                             : "a whole number"));
}

void set_at(const std::string& where, Options& options, std::string_view key, std::string_view value) {
  try {
    set_option(options, key, value);
  } catch (const InputError& error) {
    throw InputError(where, without_place(error.what()));
  }
}

toml::table parse_config(const std::string& path) {
  try {
    return toml::parse(read_file(path), path);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}", path, error.source().begin.line), std::string(error.description()));
  }
}

// The options that a request sets, in any way.
std::set<std::string> names_set(const SettingsRequest& request) {
  std::set<std::string> names;
  if (!request.config.empty()) {
    for (const auto& [key, node] : parse_config(request.config)) names.emplace(key.str());
  }
  for (const std::string& text : request.sets) names.insert(text.substr(0, text.find('=')));
  for (const auto& [name, value] : request.direct) {
    if (!value.empty()) names.insert(name);
  }
  return names;
}

void apply_set(const std::string& text, Options& options) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0) {
    throw InputError("--set", fmt::format("got '{}', need KEY=VALUE, such as epochs=50", text));
  }
  set_at("--set", options, std::string_view(text).substr(0, sign), std::string_view(text).substr(sign + 1));
}

// Only tasks whose loss is of a head on columns of the label file can be one of several.
void require_several(const std::string& text, const std::string& kind) {
  const auto all = tasks();
  const auto row = std::find_if(all.begin(), all.end(), [&](const TaskRow& task) { return task.name == kind; });
  if (row == all.end() || (row->labels && row->loss == Task::heads)) return;
  throw InputError("--task", fmt::format("got '{}' among several: '{}' is always the only task; several can be "
                                         "classification, regression, survival and multilabel",
                                         text, kind));
}

// What the label file's columns are for.
std::vector<TargetSource> target_sources(const SettingsRequest& request, const std::string& label_columns,
                                         Options& options) {
  const bool several = std::any_of(request.tasks.begin(), request.tasks.end(),
                                   [](const std::string& task) { return task.find('=') != std::string::npos; });
  if (!several) {
    if (request.tasks.size() > 1) {
      throw InputError("--task",
                       "given several times without columns, need COLUMNS=NAME for each, such as age=regression");
    }
    if (options.task == "auto") return {{TargetKind::classification, split_columns(label_columns)}};
    const TaskRow& task = find_task(options.task);
    return {{task.labels.value_or(TargetKind::classification), split_columns(label_columns)}};
  }
  if (!label_columns.empty()) {
    throw InputError("--task",
                     fmt::format("names the columns itself: got --labels FILE:{}, need --labels FILE", label_columns));
  }
  std::vector<TargetSource> sources;
  std::set<std::string> seen;
  std::string labels_weight;
  std::string weights;
  bool weighed = false;
  for (const std::string& text : request.tasks) {
    const std::size_t sign = text.rfind('=');
    const std::size_t colon = text.find(':', sign == std::string::npos ? 0 : sign);
    if (sign == std::string::npos || sign == 0) {
      require_several(text, text);
      throw InputError("--task",
                       fmt::format("got '{}' among several, need COLUMNS=NAME, such as age=regression", text));
    }
    const std::string kind = text.substr(sign + 1, colon == std::string::npos ? colon : colon - sign - 1);
    const std::string weight = colon == std::string::npos ? "1" : text.substr(colon + 1);
    weighed = weighed || colon != std::string::npos;
    if (weight.empty()) {
      throw InputError("--task", fmt::format("got '{}', need a weight after the colon, such as 0.5", text));
    }
    if (!seen.insert(text.substr(0, sign)).second) {
      throw InputError("--task", fmt::format("columns {} occur twice, need each once", text.substr(0, sign)));
    }
    require_several(text, kind);
    sources.push_back({parse_target_kind(kind), split_columns(text.substr(0, sign))});
    if (sources.back().kind == TargetKind::classification && labels_weight.empty()) {
      labels_weight = weight;
    } else {
      weights += "," + weight;
    }
  }
  // The labels' head is the first, whatever the order of the tasks.
  weights = labels_weight.empty() ? weights.substr(1) : labels_weight + weights;
  set_at("--task", options, "task", "auto");
  if (!weighed) return sources;  // options.task_weights may say them
  if (!options.task_weights.empty()) {
    throw InputError("--task", fmt::format("weights are given here and as task_weights = {}, need one of the two",
                                           options.task_weights));
  }
  set_at("--task", options, "task_weights", weights);
  return sources;
}

}  // namespace

void add_set_option(CLI::App& app, SettingsRequest& request) {
  app.add_option("--set", request.sets, "Any option of `tocca methods --verbose`; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_settings_options(CLI::App& app, SettingsRequest& request) {
  app.add_option("--method", request.direct["method"], "Method (default tocca-w); see `tocca methods`")
      ->type_name("NAME");
  app.add_option("--task", request.tasks,
                 "What the labels are for (default: classes), see `tocca methods`; for several at once, each with its "
                 "columns of the label file: --task er=classification --task time,event=survival:0.5")
      ->type_name("[COLUMNS=]NAME[:WEIGHT]")
      ->allow_extra_args(false);
  app.add_option("--components", request.direct["n_components"],
                 "Width of the shared space (default 50, or fewer where a linear method has fewer)")
      ->type_name("K");
  app.add_option("--val", request.direct["validation"], "Share held out for early stopping (default 0.2); 0: none")
      ->type_name("FRACTION");
  app.add_option("--missing", request.direct["missing"],
                 "Single missing values: error (default), mean (of training), drop (the sample)")
      ->type_name("POLICY");
  app.add_option("--label-fraction", request.direct["label_fraction"],
                 "Share of the training labels that is used (default 1), for experiments")
      ->type_name("FRACTION");
  app.add_option("--config", request.config, "Options from a TOML file; --set and flags override it")
      ->type_name("FILE.toml");
  add_set_option(app, request);
}

LabelledData load_labelled(const DataRequest& request, const SettingsRequest& settings, const LoadedData& data,
                           Options& options, Session& session) {
  std::vector<TargetSource> sources;
  if (!data.label_path.empty()) {
    sources = target_sources(settings, parse_labels(request.labels).column, options);
  } else if (!settings.tasks.empty() && settings.tasks[0].find('=') != std::string::npos) {
    throw InputError("--task", fmt::format("got '{}', which names columns; give --labels FILE", settings.tasks[0]));
  }
  return load_dataset(request, data, sources, session);
}

void read_config(const std::string& path, Options& options) {
  for (const auto& [key, node] : parse_config(path)) {
    const std::string where = fmt::format("{}:{}", path, key.source().begin.line);
    const OptionField& field = find_field(where, key.str());
    set_at(where, options, field.name, value_text(where, field, node));
  }
}

void fix_settings(const SettingsRequest& request, SearchSpace& space) {
  const std::set<std::string> fixed = names_set(request);
  std::erase_if(space.parameters, [&](const Parameter& parameter) { return fixed.contains(parameter.option); });
  std::erase_if(space.options, [&](const auto& option) { return fixed.contains(option.first); });
}

void warn_without_effect(const SettingsRequest& request, const std::vector<Method>& methods, const Options& options,
                         bool held_out_otherwise, Session& session) {
  std::vector<std::string> idle;
  const bool trains =
      std::any_of(methods.begin(), methods.end(), [](const Method& method) { return method.family == Family::deep; });
  bool validation = false;
  for (const std::string& name : names_set(request)) {
    const auto has = [&](const Method& method) { return has_effect(method, name); };
    const bool holds_nothing_out = name == "validation" && !trains && options.view_weights != "validation";
    if (holds_nothing_out || std::none_of(methods.begin(), methods.end(), has)) idle.push_back(name);
    validation = validation || (name == "validation" && trains && options.view_weights != "validation");
  }
  std::vector<std::string> names;
  for (const Method& method : methods) names.push_back(fmt::format("'{}'", method.name));
  if (!idle.empty()) {
    session.warn(fmt::format("without effect on method{} {}: {}", names.size() > 1 ? "s" : "", join(names, ", "),
                             join(idle, ", ")));
  }
  if (validation && held_out_otherwise) {
    session.warn("validation is without effect: the samples that training stops by are held out otherwise here");
  }
}

void apply_settings(const SettingsRequest& request, const Session& session, Options& options) {
  if (!request.config.empty()) read_config(request.config, options);
  for (const std::string& text : request.sets) apply_set(text, options);
  for (const auto& [name, value] : request.direct) {
    if (!value.empty()) set_at("command line", options, name, value);
  }
  session.apply_common(options);
  for (const std::string& task : request.tasks) {
    if (task.find('=') == std::string::npos) set_at("command line", options, "task", task);
  }
  if (options.task != "auto") find_task(options.task);
  find_method(options.method);
}

}  // namespace tocca::cli
