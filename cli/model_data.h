/// A model and the data it is applied to.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs.h"
#include "tocca/model/fitted_model.h"

namespace tocca::cli {

struct ModelRequest {
  std::string model;
  DataRequest data;
};
/// The paths of all files in a request, the model too.
std::vector<std::string> input_files(const ModelRequest& request);
void add_model_options(CLI::App& app, ModelRequest& request, LabelUse labels);

struct ModelData {
  FittedModel model;
  LoadedData data;
  Views views;               ///< as the model wants them
  std::vector<Index> given;  ///< the model's views that there are files for
  std::uint64_t seed = 0;    ///< of the model
};
/// Loads both and matches views and columns by name. Throws InputError.
ModelData load_model_and_data(const ModelRequest& request, Session& session, const Context& context);

/// The value of a name, empty if it is not there.
std::string text_of(const NamedTexts& texts, std::string_view name);
/// The same as a whole number, 0 if there is none.
std::uint64_t number_of(const NamedTexts& texts, std::string_view name);

}  // namespace tocca::cli
