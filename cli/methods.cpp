#include "tocca/methods/methods.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/run.h"
#include "tocca/core/text.h"
#include "tocca/data/readers.h"
#include "tocca/methods/tasks.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

using nlohmann::ordered_json;

std::string views_text(const Method& method) {
  if (method.most_views == 0) return fmt::format("{} or more", method.least_views);
  if (method.most_views == method.least_views) return fmt::format("{}", method.least_views);
  return fmt::format("{} to {}", method.least_views, method.most_views);
}

std::string methods_text() {
  std::string text;
  for (const Method& method : methods()) {
    text += fmt::format("{:<15}{}\n{:15}objective: {}\n{:15}views: {}; labels: {}; source: {}\n", method.name,
                        method.title, "", method.objective, "", views_text(method),
                        method.needs_labels ? "needed" : "not needed", method.source);
  }
  return text;
}

std::string tasks_text() {
  std::vector<std::vector<std::string>> rows{{"task", "what it predicts, and by which loss", "measured by", "source"}};
  for (const TaskRow& task : tasks()) {
    rows.push_back(
        {std::string(task.name), std::string(task.title), std::string(task.metrics), std::string(task.source)});
  }
  return align(rows);
}

ordered_json task_list() {
  ordered_json list = ordered_json::array();
  for (const TaskRow& task : tasks()) {
    list.push_back({{"task", task.name}, {"title", task.title}, {"metrics", task.metrics}, {"source", task.source}});
  }
  return list;
}

std::string formats_text() {
  std::vector<std::vector<std::string>> rows{{"format", "what it is", "names end in"}};
  for (const ReaderFormat& format : reader_formats()) {
    rows.push_back({std::string(format.name), std::string(format.description), join(format.endings, " ")});
  }
  return align(rows);
}

std::string options_text() {
  const NamedTexts defaults = option_texts(Options{});
  std::vector<std::vector<std::string>> rows{{"option", "default", "allowed", "meaning"}};
  std::size_t i = 0;
  for (const OptionField& field : option_fields()) {
    rows.push_back({std::string(field.name), defaults[i++].second, allowed_values(field), std::string(field.help)});
  }
  return align(rows);
}

ordered_json method_rows() {
  ordered_json rows = ordered_json::array();
  for (const Method& method : methods()) {
    rows.push_back({{"method", method.name},
                    {"title", method.title},
                    {"objective", method.objective},
                    {"source", method.source},
                    {"needs_labels", method.needs_labels},
                    {"least_views", method.least_views},
                    {"most_views", method.most_views}});
  }
  return rows;
}

ordered_json format_list() {
  ordered_json list = ordered_json::array();
  for (const ReaderFormat& format : reader_formats()) {
    list.push_back({{"format", format.name}, {"endings", format.endings}, {"description", format.description}});
  }
  return list;
}

ordered_json option_list() {
  const NamedTexts defaults = option_texts(Options{});
  ordered_json list = ordered_json::array();
  std::size_t i = 0;
  for (const OptionField& field : option_fields()) {
    list.push_back({{"option", field.name},
                    {"default", defaults[i++].second},
                    {"allowed", allowed_values(field)},
                    {"help", field.help}});
  }
  return list;
}

int run_methods(bool verbose, Session& session) {
  session.result(
      fmt::format("Methods (--method)\n\n{}\nTasks of networks (--task)\n\n{}\nFiles that views are read from\n\n{}",
                  methods_text(), tasks_text(), formats_text()));
  if (verbose) {
    session.result("\nOptions (--set KEY=VALUE, or a line of --config)\n\n" + options_text());
  } else {
    session.result("\nAll options of the methods: tocca methods --verbose\n");
  }
  ordered_json more = {{"formats", format_list()}, {"tasks", task_list()}};
  if (verbose) more["options"] = option_list();
  session.json(method_rows(), 0, more);
  return kSuccess;
}

}  // namespace

Action set_up_methods(CLI::App& app) {
  const auto verbose = std::make_shared<bool>(false);
  app.add_flag("-v,--verbose", *verbose, "All options too, with defaults and what is allowed");
  return [verbose](Session& session) { return run_methods(*verbose, session); };
}

}  // namespace tocca::cli
