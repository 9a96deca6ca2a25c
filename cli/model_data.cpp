#include "cli/model_data.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

namespace tocca::cli {
namespace {

std::vector<Index> given_views(const FittedModel& model, const Views& data) {
  std::vector<Index> given;
  if (!model.fused.empty()) return {0};  // the one view that the files' views make
  for (Index v = 0; v < model.view_count(); ++v) {
    const std::string& name = model.views[static_cast<std::size_t>(v)].name;
    const bool there =
        std::any_of(data.views.begin(), data.views.end(), [&](const View& view) { return view.name == name; });
    if (there) given.push_back(v);
  }
  return given;
}

}  // namespace

std::vector<std::string> input_files(const ModelRequest& request) {
  std::vector<std::string> files = input_files(request.data);
  files.push_back(request.model);
  return files;
}

void add_model_options(CLI::App& app, ModelRequest& request, LabelUse labels) {
  app.add_option("--model", request.model, "Model file, as `tocca fit` writes it")->type_name("FILE")->required();
  add_data_options(app, request.data, labels);
}

ModelData load_model_and_data(const ModelRequest& request, Session& session, const Context& context) {
  ModelData loaded;
  loaded.model = load_model(request.model);
  loaded.seed = number_of(loaded.model.options, "seed");
  loaded.data = load(request.data, session);
  loaded.views = match_views(loaded.model, loaded.data.views, context);
  loaded.given = given_views(loaded.model, loaded.data.views);
  return loaded;
}

std::string text_of(const NamedTexts& texts, std::string_view name) {
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.first == name; });
  return found == texts.end() ? "" : found->second;
}

std::uint64_t number_of(const NamedTexts& texts, std::string_view name) {
  const std::string text = text_of(texts, name);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace tocca::cli
