#include "cli/inputs.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca::cli {
namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(file_of(a), file_of(b), ignored);
}

// Whether a view is the array of that name in its file, also transposed.
bool is_array(const std::string& path, const std::string& name) {
  const std::string array = path.substr(file_of(path).size());
  return array == ":" + name || array == ":" + name + "'";
}

// A view that holds the labels as one of its columns would give the answer away.
void check_leak(const LoadedData& data, const LabelColumn& labels) {
  for (std::size_t v = 0; v < data.paths.size(); ++v) {
    const View& view = data.views.views[v];
    const bool among = std::find(view.features.begin(), view.features.end(), labels.column) != view.features.end();
    if (!(among || is_array(data.paths[v], labels.column)) || !same_file(data.paths[v], labels.path)) continue;
    throw InputError("--labels", fmt::format("column '{}' of {} is also a column of view '{}', which would learn from "
                                             "the answer; put labels in a file of their own",
                                             labels.column, labels.path, view.name));
  }
}

struct Columns {
  std::string path;
  std::vector<std::string> names;
  bool answers;      // what is to be predicted
  bool tell = true;  // what joining them has to say
};

std::vector<LabelTexts> join_columns(const DataRequest& request, const LoadedData& data, const Columns& columns,
                                     Session& session) {
  std::vector<LabelTexts> texts;
  JoinReport report;
  for (const std::string& wanted : columns.names) {
    const LabelColumn column = read_labels(columns.path, wanted, {request.id_column});
    if (columns.answers) check_leak(data, column);
    // What joining has to say is the same for every column.
    texts.push_back({column.column, join_labels(data.views, column, data.by_id, texts.empty() ? &report : nullptr)});
  }
  for (const std::string& message : report.messages) {
    if (columns.tell) session.info(message);
  }
  return texts;
}

// A number for each sample: of equal texts, the same.
std::vector<Index> load_groups(const DataRequest& request, const LoadedData& data, Session& session) {
  const std::vector<LabelTexts> columns = load_columns("--groups", request.groups, request, data, session);
  if (columns.size() != 1) {
    throw InputError("--groups", fmt::format("got {} columns, need one; name it, as in FILE:COLUMN", columns.size()));
  }
  std::map<std::string, Index> numbers;
  std::vector<Index> groups;
  for (std::size_t i = 0; i < columns[0].text.size(); ++i) {
    const std::string& text = columns[0].text[i];
    if (is_missing(text)) {
      throw InputError("--groups",
                       fmt::format("column '{}': sample '{}' has no group", columns[0].column, data.views.samples[i]));
    }
    groups.push_back(numbers.emplace(text, static_cast<Index>(numbers.size())).first->second);
  }
  return groups;
}

}  // namespace

NamedPath parse_view(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0 || sign + 1 == text.size()) {
    throw InputError("--view", fmt::format("got '{}', need NAME=FILE, such as genes=genes.csv", text));
  }
  return {std::string(text.substr(0, sign)), std::string(text.substr(sign + 1))};
}

LabelSource parse_labels(const std::string& text, const std::string& option) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || exists(text)) return {text, ""};
  if (colon == 0 || colon + 1 == text.size()) {
    throw InputError(option, fmt::format("got '{}', need FILE or FILE:COLUMN", text));
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::vector<std::string> input_files(const DataRequest& request) {
  std::vector<std::string> files;
  for (const std::string& view : request.views) files.push_back(file_of(parse_view(view).path));
  for (const auto& [option, columns] : {std::pair{"--labels", &request.labels}, {"--groups", &request.groups}}) {
    if (!columns->empty()) files.push_back(file_of(parse_labels(*columns, option).path));
  }
  return files;
}

void add_data_options(CLI::App& app, DataRequest& request, LabelUse labels) {
  app.add_option("--view", request.views, "A view and the file that holds it; once for each view")
      ->type_name("NAME=FILE")
      ->required()
      ->allow_extra_args(false);
  if (labels != LabelUse::none) {
    app.add_option("--labels", request.labels, "Labels; an empty cell, NA, nan (of classes also -1) means unlabelled")
        ->type_name("FILE[:COLUMN[,COLUMN]]")
        ->required(labels == LabelUse::required);
  }
  app.add_option("--id", request.id_column,
                 "Column of sample ids, in every file (default: a first column named sample, id or nothing)")
      ->type_name("COLUMN");
}

void add_groups_option(CLI::App& app, DataRequest& request) {
  app.add_option("--groups", request.groups,
                 "Samples of the same group (patient, speaker) stay together wherever some are held out")
      ->type_name("FILE[:COLUMN]");
}

LoadedData load(const DataRequest& request, Session& session) {
  std::vector<NamedTable> tables;
  LoadedData data;
  for (const std::string& text : request.views) {
    const NamedPath view = parse_view(text);
    tables.push_back({view.name, read_table(view.path, {request.id_column})});
    data.paths.push_back(tables.back().file.path);
  }
  JoinReport report;
  data.views = join_views(std::move(tables), &report);
  data.by_id = report.by_id;
  if (!request.labels.empty()) data.label_path = parse_labels(request.labels).path;
  for (const std::string& message : report.messages) session.info(message);
  return data;
}

std::vector<LabelTexts> load_labels(const DataRequest& request, const LoadedData& data,
                                    const std::vector<std::string>& columns, Session& session) {
  return join_columns(request, data, {data.label_path, columns, true}, session);
}

std::vector<std::string> split_columns(const std::string& text) {
  std::vector<std::string> columns;
  std::size_t first = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', first)) {
    columns.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  columns.push_back(text.substr(first));
  return columns;
}

std::vector<LabelTexts> load_columns(const std::string& option, const std::string& given, const DataRequest& request,
                                     const LoadedData& data, Session& session) {
  const LabelSource source = parse_labels(given, option);
  std::vector<std::string> names = split_columns(source.column);
  if (source.column.empty()) names = label_columns(source.path, {request.id_column});
  if (names.empty()) throw InputError(option, fmt::format("{}: there is no column", source.path));
  // A sample without a group is refused, and told apart from one without a label.
  return join_columns(request, data, {source.path, names, false, option != "--groups"}, session);
}

LabelledData load_dataset(const DataRequest& request, const LoadedData& data, const std::vector<TargetSource>& sources,
                          Session& session) {
  LabelledData labelled{{data.views, {}, {}}, {}};
  if (!request.groups.empty()) labelled.dataset.groups = load_groups(request, data, session);
  for (const TargetSource& source : sources) {
    const bool first = &source == sources.data();
    const auto columns = join_columns(request, data, {data.label_path, source.columns, true, first}, session);
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> texts;
    for (const LabelTexts& column : columns) {
      names.push_back(column.column);
      texts.push_back(column.text);
    }
    Target target = make_target(source.kind, names, texts);
    if (target.kind == TargetKind::classification && labelled.dataset.labels.codes.empty()) {
      labelled.dataset.labels = std::move(target.labels);
      labelled.label_column = names[0];
    } else {
      labelled.dataset.targets.push_back(std::move(target));
    }
  }
  return labelled;
}

}  // namespace tocca::cli
