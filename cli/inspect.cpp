#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/model_data.h"
#include "cli/run.h"
#include "tocca/data/readers.h"
#include "tocca/data/text.h"
#include "tocca/report/table.h"

namespace tocca::cli {
namespace {

using nlohmann::ordered_json;

bool is_data_file(const std::string& path) {
  const std::string name = lower_case(file_of(path));
  return std::any_of(reader_formats().begin(), reader_formats().end(), [&](const ReaderFormat& format) {
    return std::any_of(format.endings.begin(), format.endings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); });
  });
}

Index count_missing(const Table& values) {
  return values.visit([&](auto first, Index row_stride, Index column_stride) {
    Index missing = 0;
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.columns(); ++j) {
        missing += std::isnan(static_cast<double>(first[i * row_stride + j * column_stride])) ? 1 : 0;
      }
    }
    return missing;
  });
}

// "data/left.csv.gz" → "left"
std::string stem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.', 1));
}

int inspect_parts(const std::string& path, const std::vector<TablePart>& parts, Session& session) {
  std::vector<std::vector<std::string>> lines{{"variable", "class", "size"}};
  ordered_json rows = ordered_json::array();
  for (const TablePart& part : parts) {
    lines.push_back({part.name, part.type, part.size});
    rows.push_back({{"variable", part.name}, {"class", part.type}, {"size", part.size}});
  }
  session.result(align({{"file", path}}) + "\n" + align(lines));
  session.json(rows, 0, {{"file", path}, {"kind", "variables"}});
  return kSuccess;
}

int inspect_data(const std::string& path, const std::string& id_column, Session& session) {
  if (const std::vector<TablePart> parts = table_parts(path); !parts.empty()) {
    return inspect_parts(path, parts, session);
  }
  const TableFile file = read_table(path, {id_column});
  const Index missing = count_missing(file.values);
  const std::string ids = file.ids.empty() ? "none" : name_some(file.ids);
  session.result(
      align({{"file", path},
             {"samples", fmt::format("{}", file.values.rows())},
             {"columns", fmt::format("{}", file.values.columns())},
             {"missing", fmt::format("{} of {} values", missing, file.values.rows() * file.values.columns())},
             {"type", std::string(name_of(file.values.type()))},
             {"ids", ids},
             {"names", name_some(file.features)}}));
  const ordered_json row = {
      {"view", stem(path)}, {"samples", file.values.rows()},       {"columns", file.values.columns()},
      {"missing", missing}, {"type", name_of(file.values.type())}, {"ids", !file.ids.empty()}};
  session.json(ordered_json::array({row}), 0, {{"file", path}, {"kind", "data"}});
  return kSuccess;
}

std::string correlations_text(const Vector<double>& correlations) {
  constexpr Index kShown = 5;
  std::string text;
  for (Index i = 0; i < std::min(kShown, correlations.size()); ++i) text += fmt::format("{:.3f} ", correlations(i));
  return text + fmt::format("{}sum {:.3f}", correlations.size() > kShown ? "... " : "", correlations.sum());
}

std::string model_text(const FittedModel& model, const std::string& path) {
  std::vector<std::vector<std::string>> facts{{"model", path}, {"method", model.method}};
  facts.push_back({"components", fmt::format("{}", model.components())});
  facts.push_back({"classes", model.classes.empty() ? "none" : name_some(model.classes, 10)});
  for (const FusedPart& part : model.fused) {
    facts.push_back({"part of view all", fmt::format("{}, {} columns", part.name, part.features.size())});
  }
  for (const ModelTarget& target : model.targets) {
    facts.push_back({"target", fmt::format("{} of {}", name_of(target.kind), target.name())});
  }
  for (const CanonicalPair& pair : model.pairs) {
    facts.push_back({"correlations", fmt::format("{} and {}: {}", model.views[static_cast<std::size_t>(pair.u)].name,
                                                 model.views[static_cast<std::size_t>(pair.v)].name,
                                                 correlations_text(pair.correlations))});
  }
  for (const auto& [name, value] : model.provenance) facts.push_back({name, value});
  std::vector<std::vector<std::string>> views{{"view", "columns", "constant", "names"}};
  for (const ViewSchema& view : model.views) {
    views.push_back({view.name, fmt::format("{}", view.features.size()),
                     fmt::format("{}", view.standardizer.constant.size()), name_some(view.features)});
  }
  std::vector<std::vector<std::string>> options{{"option", "value"}};
  for (const auto& [name, value] : model.options) options.push_back({name, value});
  return align(facts) + "\n" + align(views) + "\n" + align(options);
}

ordered_json object_of(const NamedTexts& texts) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : texts) object[name] = value;
  return object;
}

int inspect_model(const std::string& path, Session& session) {
  const FittedModel model = load_model(path);
  session.result(model_text(model, path));
  ordered_json rows = ordered_json::array();
  for (const ViewSchema& view : model.views) {
    rows.push_back({{"view", view.name},
                    {"samples", number_of(model.provenance, "training_samples")},
                    {"columns", view.features.size()},
                    {"missing", nullptr},
                    {"constant", view.standardizer.constant.size()}});
  }
  ordered_json pairs = ordered_json::array();
  for (const CanonicalPair& pair : model.pairs) {
    pairs.push_back({{"u", model.views[static_cast<std::size_t>(pair.u)].name},
                     {"v", model.views[static_cast<std::size_t>(pair.v)].name},
                     {"correlations", std::vector<double>(pair.correlations.begin(), pair.correlations.end())}});
  }
  ordered_json targets = ordered_json::array();
  for (const ModelTarget& target : model.targets) {
    targets.push_back({{"kind", name_of(target.kind)}, {"columns", target.columns}, {"classes", target.classes}});
  }
  session.json(rows, number_of(model.options, "seed"),
               {{"file", path},
                {"kind", "model"},
                {"method", model.method},
                {"components", model.components()},
                {"classes", model.classes},
                {"targets", targets},
                {"options", object_of(model.options)},
                {"provenance", object_of(model.provenance)},
                {"canonical_correlations", pairs}});
  return kSuccess;
}

}  // namespace

Action set_up_inspect(CLI::App& app) {
  struct Request {
    std::string file, id_column;
  };
  const auto request = std::make_shared<Request>();
  app.add_option("FILE", request->file, "A model, or a data file (see `tocca methods` for the formats)")->required();
  app.add_option("--id", request->id_column, "Column of sample ids of a data file")->type_name("COLUMN");
  return [request](Session& session) {
    return is_data_file(request->file) ? inspect_data(request->file, request->id_column, session)
                                       : inspect_model(request->file, session);
  };
}

}  // namespace tocca::cli
