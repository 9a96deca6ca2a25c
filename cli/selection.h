/// What `search` and `compare` are asked in the same words: how samples are cut, what is scored, what is varied, and
/// where trials are kept.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/session.h"
#include "tocca/search/comparison.h"

namespace CLI {
class App;
}

namespace tocca::cli {

struct SpaceRequest {
  std::string file;    ///< --space
  std::string preset;  ///< --preset
  bool show = false;   ///< --show-space

  [[nodiscard]] bool given() const { return !file.empty() || !preset.empty(); }
};
void add_space_options(CLI::App& app, SpaceRequest& request);
/// The space asked for; the preset "default" without. Throws InputError.
SearchSpace load_space(const SpaceRequest& request);

/// What --show-space prints.
void show_space(const SpaceRequest& request, Session& session);

struct ResamplingRequest {
  std::string folds, repeats, held_out;  ///< as given; empty: not given
  std::string split;                     ///< FILE[:COLUMN,...]
};
/// --folds, --repeats, and the share held out by random splits under the name `held_out`.
void add_resampling_options(CLI::App& app, ResamplingRequest& request, const std::string& held_out);
/// `usual` with what was asked for in its place.
Resampling make_resampling(const ResamplingRequest& request, Resampling usual);

/// Samples by the words of a column: train, val (or validation), test; none, empty or NA: left out.
struct GivenSplit {
  std::string column;
  std::vector<Index> train, validation, test;  ///< ascending
};
/// The columns of --split, all of the file where none is named. Throws InputError naming column, sample and word, or
/// two samples of a group of `dataset` in different parts.
std::vector<GivenSplit> load_splits(const std::string& split, const DataRequest& files, const LoadedData& data,
                                    const Dataset& dataset, Session& session);

/// The file of --split, for guards against overwriting it.
std::vector<std::string> input_files(const ResamplingRequest& request);

/// Opens --store; in memory without, which is told.
std::unique_ptr<TrialStore> open_store(const std::string& path, Session& session);

/// "0.861 ± 0.003", "0.861", "–".
std::string value_text(double mean, double standard_error);

}  // namespace tocca::cli
