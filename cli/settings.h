/// Options of a method from a config file, --set and direct flags, in this order: what comes later wins.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/session.h"
#include "tocca/methods/methods.h"
#include "tocca/search/space.h"

namespace CLI {
class App;
}

namespace tocca::cli {

struct SettingsRequest {
  std::string config;                         ///< --config FILE.toml
  std::vector<std::string> sets;              ///< --set KEY=VALUE
  std::map<std::string, std::string> direct;  ///< option name → text of a flag such as --components
  std::vector<std::string> tasks;             ///< --task NAME, or --task COLUMNS=NAME[:WEIGHT] for each target
};

/// The views with labels, targets and groups. Columns of the label file are those that --labels names, for one task, or
/// each --task's own; options.task and task_weights are set accordingly. Throws InputError.
LabelledData load_labelled(const DataRequest& request, const SettingsRequest& settings, const LoadedData& data,
                           Options& options, Session& session);

void add_set_option(CLI::App& app, SettingsRequest& request);
/// --config, --set and the flags of the options that are set most often.
void add_settings_options(CLI::App& app, SettingsRequest& request);

/// Takes out of a space what --config, --set or a flag fixes. Throws InputError as apply_settings does.
void fix_settings(const SettingsRequest& request, SearchSpace& space);

/// Warns of options that were set and change nothing with any of these methods (resolved, see methods/resolve.h), and
/// of `validation` where training stops by samples that are held out otherwise.
void warn_without_effect(const SettingsRequest& request, const std::vector<Method>& methods, const Options& options,
                         bool held_out_otherwise, Session& session);

/// Reads a config file into `options`. Throws InputError naming file, line and key: not TOML, an unknown key, a value
/// of the wrong type or out of range.
void read_config(const std::string& path, Options& options);

/// All of it, with --seed and --threads of the session. Throws InputError.
void apply_settings(const SettingsRequest& request, const Session& session, Options& options);

}  // namespace tocca::cli
