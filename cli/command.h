/// The table of commands. A new command is one file with its set-up function and one line of the table.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace tocca::cli {

/// Does the work once the command line is read; returns an ExitCode.
using Action = std::function<int(Session&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view example;         ///< shown below the options
  Action (*set_up)(CLI::App& app);  ///< registers the options and says what to do with them
  bool has_seed = false;            ///< takes --seed
};

std::span<const Command> commands();
/// Throws InputError offering near names.
const Command& find_command(std::string_view name);

Action set_up_bench(CLI::App& app);
Action set_up_compare(CLI::App& app);
Action set_up_search(CLI::App& app);
Action set_up_demo(CLI::App& app);
Action set_up_fit(CLI::App& app);
Action set_up_transform(CLI::App& app);
Action set_up_predict(CLI::App& app);
Action set_up_evaluate(CLI::App& app);
Action set_up_inspect(CLI::App& app);
Action set_up_methods(CLI::App& app);
Action set_up_reproduce(CLI::App& app);

}  // namespace tocca::cli
