#include <fmt/format.h>

#include <CLI/App.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/model_data.h"
#include "cli/outputs.h"
#include "cli/run.h"
#include "tocca/core/error.h"

namespace tocca::cli {
namespace {

constexpr std::string_view kViewPlace = "{view}";

struct TransformRequest {
  ModelRequest input;
  std::string out;
  bool private_parts = false;
};

// Projections, or private components, of one view for all samples; NaN where a sample lacks it.
Matrix<double> project_all(const ModelData& loaded, Index view, bool private_parts, const Context& context) {
  const auto samples = samples_with_view(loaded.views, view);
  const Matrix<double> z =
      (private_parts ? private_components : transform)(loaded.model, loaded.views, view, samples, context);
  Matrix<double> all =
      Matrix<double>::Constant(loaded.views.size(), z.cols(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < samples.size(); ++i) all.row(samples[i]) = z.row(static_cast<Index>(i));
  return all;
}

Index columns_of(const ModelData& loaded, bool private_parts) {
  if (!private_parts) return loaded.model.components();
  return loaded.model.network ? loaded.model.network->shape.private_components : 0;
}

SampleTable side_by_side(const ModelData& loaded, const std::vector<Index>& views, bool private_parts,
                         const Context& context) {
  const Index k = columns_of(loaded, private_parts);
  SampleTable table{loaded.views.samples, {}, {}};
  table.values.resize(loaded.views.size(), k * static_cast<Index>(views.size()));
  for (std::size_t v = 0; v < views.size(); ++v) {
    table.values.middleCols(static_cast<Index>(v) * k, k) = project_all(loaded, views[v], private_parts, context);
    for (Index j = 0; j < k; ++j) {
      table.columns.push_back(fmt::format("{}_{}{}", loaded.model.views[static_cast<std::size_t>(views[v])].name,
                                          private_parts ? "private_" : "", j));
    }
  }
  return table;
}

void write_table(const std::string& path, const SampleTable& table) {
  if (path.ends_with(".npy")) {
    write_npy(path, table.values);
  } else {
    write_csv(path, table);
  }
}

struct OutputFile {
  std::string path;
  std::vector<Index> views;
};

// One file, or one a view where the path has a place for its name.
std::vector<OutputFile> output_files(const std::string& out, const ModelData& loaded) {
  if (!out.ends_with(".csv") && !out.ends_with(".npy")) {
    throw InputError("--out", fmt::format("'{}': got an unknown ending, need .csv or .npy", out));
  }
  const std::size_t place = out.find(kViewPlace);
  if (place == std::string::npos) return {{out, loaded.given}};
  std::vector<OutputFile> files;
  for (const Index view : loaded.given) {
    std::string path = out;
    path.replace(place, kViewPlace.size(), loaded.model.views[static_cast<std::size_t>(view)].name);
    files.push_back({path, {view}});
  }
  return files;
}

int run_transform(const TransformRequest& request, Session& session) {
  const Context context = session.context();
  const ModelData loaded = load_model_and_data(request.input, session, context);
  const std::vector<OutputFile> files = output_files(request.out, loaded);
  for (const OutputFile& file : files) {
    require_writable("--out", file.path);
    require_not_input("--out", file.path, input_files(request.input));
  }
  const Index columns = columns_of(loaded, request.private_parts);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const OutputFile& file : files) {
    write_table(file.path, side_by_side(loaded, file.views, request.private_parts, context));
    for (const Index v : file.views) {
      const View& view = loaded.views.views[static_cast<std::size_t>(v)];
      rows.push_back({{"view", view.name},
                      {"samples", loaded.views.size()},
                      {"columns", columns},
                      {"missing", loaded.views.size() - view.present()},
                      {"file", file.path}});
    }
    session.note(fmt::format("{} samples × {} columns in {}\n", loaded.views.size(),
                             columns * static_cast<Index>(file.views.size()), file.path));
  }
  session.json(rows, loaded.seed, {{"method", loaded.model.method}, {"out", request.out}});
  return kSuccess;
}

}  // namespace

Action set_up_transform(CLI::App& app) {
  const auto request = std::make_shared<TransformRequest>();
  add_model_options(app, request->input, LabelUse::none);
  app.add_option("--out", request->out,
                 "File to write, .csv or .npy: all views side by side, columns VIEW_0, VIEW_1, ... (n × V·k); with "
                 "{view} in the name a file for each view (n × k). A sample that lacks a view has empty fields (NaN)")
      ->type_name("FILE")
      ->required();
  app.add_flag("--private", request->private_parts,
               "Private components of each view (private_components) instead of the shared space");
  return [request](Session& session) { return run_transform(*request, session); };
}

}  // namespace tocca::cli
