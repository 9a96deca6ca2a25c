#include "cli/selection.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/outputs.h"
#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/search/space_file.h"

namespace tocca::cli {
namespace {

template <class Number>
Number parse_number(const std::string& option, const std::string& text, const char* need) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) {
    throw InputError(option, fmt::format("got '{}', need {}", text, need));
  }
  return value;
}

// Groups are on one side of a given split, too.
void require_whole_groups(const GivenSplit& split, const Dataset& dataset) {
  if (dataset.groups.empty()) return;
  std::map<Index, std::pair<const char*, Index>> part_of;
  for (const auto& [part, samples] :
       {std::pair{"train", &split.train}, {"val", &split.validation}, {"test", &split.test}}) {
    for (const Index sample : *samples) {
      const auto& [first, other] =
          part_of.emplace(dataset.groups[static_cast<std::size_t>(sample)], std::pair{part, sample}).first->second;
      if (std::string_view(first) == part) continue;
      const auto name = [&](Index s) { return dataset.views.samples[static_cast<std::size_t>(s)]; };
      throw InputError(
          "--groups",
          fmt::format("samples '{}' and '{}' are of one group, and column '{}' of --split has them in {} and {}",
                      name(other), name(sample), split.column, first, part));
    }
  }
}

void place(GivenSplit& split, const std::string& word, Index sample, const LoadedData& data) {
  if (word == "train") {
    split.train.push_back(sample);
  } else if (word == "val" || word == "validation") {
    split.validation.push_back(sample);
  } else if (word == "test") {
    split.test.push_back(sample);
  } else if (!word.empty() && word != "none" && word != "NA" && word != "nan") {
    throw InputError("--split", fmt::format("column '{}', sample '{}': got '{}', need train, val, test or none",
                                            split.column, data.views.samples[static_cast<std::size_t>(sample)], word));
  }
}

}  // namespace

void add_space_options(CLI::App& app, SpaceRequest& request) {
  std::vector<std::string> names;
  for (const SpacePreset& preset : space_presets()) names.emplace_back(preset.name);
  app.add_option("--space", request.file, "Options to vary and their ranges, see docs/search.md")
      ->type_name("FILE.toml");
  app.add_option("--preset", request.preset, fmt::format("A space that comes along: {}", join(names, ", ")))
      ->type_name("NAME");
  app.add_flag("--show-space", request.show, "Print the space as TOML, and do nothing else");
}

SearchSpace load_space(const SpaceRequest& request) {
  if (!request.file.empty() && !request.preset.empty()) {
    throw InputError("--preset", "--space is given too, need one of the two");
  }
  if (!request.file.empty()) return read_space(request.file);
  const SpacePreset& preset = find_space_preset(request.preset.empty() ? "default" : request.preset);
  return parse_space(std::string(preset.toml), fmt::format("preset {}", preset.name));
}

void show_space(const SpaceRequest& request, Session& session) {
  const std::string text = load_space(request).text();
  session.result(text);
  session.json(nlohmann::ordered_json::array(), 0, {{"space", text}});
}

void add_resampling_options(CLI::App& app, ResamplingRequest& request, const std::string& held_out) {
  app.add_option("--folds", request.folds, "Folds of a cross-validation; 0: random splits")->type_name("K");
  app.add_option("--repeats", request.repeats, "How often the folds, or a random split, are drawn")->type_name("N");
  app.add_option(held_out, request.held_out, "Share of the samples that a random split holds out")
      ->type_name("FRACTION");
}

Resampling make_resampling(const ResamplingRequest& request, Resampling usual) {
  if (!request.split.empty()) {
    for (const auto& [option, value] : {std::pair{"--folds", &request.folds},
                                        {"--repeats", &request.repeats},
                                        {"share held out", &request.held_out}}) {
      if (!value->empty()) throw InputError(option, "--split says how samples are cut; need one of the two");
    }
  }
  if (!request.held_out.empty()) {
    usual.folds = 0;
    usual.held_out = parse_number<double>("share held out", request.held_out, "a number between 0 and 1");
  }
  if (!request.folds.empty()) usual.folds = parse_number<Index>("--folds", request.folds, "a whole number");
  if (usual.folds > 0 && !request.held_out.empty()) {
    throw InputError("--folds", "a share held out is given too, need one of the two");
  }
  if (!request.repeats.empty()) usual.repeats = parse_number<Index>("--repeats", request.repeats, "a whole number");
  return usual;
}

std::vector<GivenSplit> load_splits(const std::string& given, const DataRequest& files, const LoadedData& data,
                                    const Dataset& dataset, Session& session) {
  std::vector<GivenSplit> splits;
  for (const LabelTexts& column : load_columns("--split", given, files, data, session)) {
    GivenSplit split{column.column, {}, {}, {}};
    for (std::size_t i = 0; i < column.text.size(); ++i) place(split, column.text[i], static_cast<Index>(i), data);
    if (split.train.empty()) {
      throw InputError("--split", fmt::format("column '{}': no sample has the word train", column.column));
    }
    require_whole_groups(split, dataset);
    splits.push_back(std::move(split));
  }
  return splits;
}

std::vector<std::string> input_files(const ResamplingRequest& request) {
  std::vector<std::string> files;
  if (!request.split.empty()) files.push_back(parse_labels(request.split, "--split").path);
  return files;
}

std::unique_ptr<TrialStore> open_store(const std::string& path, Session& session) {
  if (path.empty()) {
    session.info("without --store FILE trials are kept in memory alone, and cannot be resumed or shared");
  } else {
    require_writable("--store", path);
  }
  return std::make_unique<TrialStore>(path);
}

std::string value_text(double mean, double standard_error) {
  if (!std::isfinite(mean)) return "–";
  return std::isfinite(standard_error) ? fmt::format("{:.3f} ± {:.3f}", mean, standard_error)
                                       : fmt::format("{:.3f}", mean);
}

}  // namespace tocca::cli
