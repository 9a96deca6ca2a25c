/// Search spaces in TOML, and those that come with the library.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tocca/search/space.h"

namespace tocca {

/// Reads a space:
///
///     [options]                 # of every trial
///     epochs = 60
///     [space]                   # one line for each option that is varied
///     learning_rate = { log_uniform = [1e-4, 1e-2] }
///     dropout       = { uniform = [0, 0.5] }
///     hidden_layers = { integer = [0, 4] }
///     hidden_size   = { log_integer = [50, 500] }
///     batch_size    = { choice = [32, 100] }       # or simply [32, 100]
///     weight_decay  = { log_uniform = [1e-6, 1e-3], or = 0, share = 0.2 }
///
/// `or` gives a value, or a list of them, that comes in place of one from the range in a share of the trials (0.2 where
/// it is not given). Throws InputError with file and line.
SearchSpace read_space(const std::string& path);
/// The same from text; `where` stands for the file in messages.
SearchSpace parse_space(const std::string& text, const std::string& where);

/// A space that comes with the library.
struct SpacePreset {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  std::string_view toml;
};
std::span<const SpacePreset> space_presets();
/// Throws InputError offering near names.
const SpacePreset& find_space_preset(std::string_view name);

}  // namespace tocca
