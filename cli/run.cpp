#include "cli/run.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <exception>
#include <new>

#include "cli/command.h"
#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/core/version.h"
#include "tocca/linalg/matrix_unit.h"

namespace tocca::cli {
namespace {

// Nothing here needs the library: `tocca --help` only reads the table of commands.
std::string overview() {
  std::string text = "Multi-view learning by task-optimal CCA\n\nUsage: tocca COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : commands()) text += fmt::format("  {:<11}{}\n", command.name, command.summary);
  return text + fmt::format(
                    "\n`tocca COMMAND --help` explains the options of a command and has an example.\n"
                    "Every command takes --json (one JSON object on stdout), --quiet and --threads N.\n"
                    "Exit status: 0 success, 1 failed, 2 bad usage or bad input, 130 stopped by Ctrl-C.\n"
                    "\nExample:\n  {}\n",
                    find_command("demo").example);
}

void add_common_options(CLI::App& app, CommonOptions& common, bool has_seed) {
  app.add_flag("--json", common.json, "One JSON object on stdout instead of text");
  app.add_flag("-q,--quiet", common.quiet, "No progress and no notes; warnings and errors remain");
  app.add_option("--threads", common.threads, "Threads; 0: one per processor")->type_name("N");
  if (has_seed) app.add_option("--seed", common.seed, "Seed of everything random (default 0)")->type_name("N");
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What the parser could not place, before what it missed: a misspelt option is both.
void refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  const std::string& first = extras.front();
  if (!first.starts_with('-')) throw InputError(app.get_name(), fmt::format("unexpected argument '{}'", first));
  throw InputError(app.get_name(), unknown_name("option", first.substr(0, first.find('=')), option_names(app)));
}

// "$FILE" with nothing in it is a mistake, not a wish to do without, or to take the next option for the value.
void refuse_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& given : option->results()) {
      if (given.empty()) {
        throw InputError(option->get_name(), "got an empty text; give a value, or leave the option out");
      }
      if (given.front() == '-' && app.get_option_no_throw(given) != nullptr) {
        throw InputError(option->get_name(), fmt::format("got '{}', which is an option; give a value", given));
      }
    }
  }
}

void parse(CLI::App& app, std::vector<std::string> arguments) {
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--") || !argument.ends_with('=')) continue;
    throw InputError(argument.substr(0, argument.size() - 1),
                     "got an empty text; give a value, or leave the option out");
  }
  std::reverse(arguments.begin(), arguments.end());  // the parser takes them off the end
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& error) {
    refuse_extras(app);
    throw InputError(app.get_name(), error.what());
  }
  refuse_extras(app);
  refuse_empty(app);
}

int run_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const Command& command = find_command(arguments.front());
  CLI::App app(std::string(command.summary), fmt::format("tocca {}", command.name));
  app.allow_extras();
  app.get_formatter()->column_width(30);
  app.footer(fmt::format("Example:\n  {}", command.example));
  CommonOptions common;
  const Action action = command.set_up(app);
  add_common_options(app, common, command.has_seed);
  try {
    parse(app, {arguments.begin() + 1, arguments.end()});
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return kSuccess;
  }
  Session session(arguments, common, out, err);
  Options checked;
  session.apply_common(checked);  // wrong ones are refused by commands that have no use for them, too
  return action(session);
}

int dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  if (arguments.empty()) {
    err << overview();
    return kBadInput;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    if (first == "help" && arguments.size() > 1) return run_command({arguments[1], "--help"}, out, err);
    out << overview();
    return kSuccess;
  }
  if (first == "--version") {
    out << "tocca " << version() << '\n';
    return kSuccess;
  }
  if (first.starts_with('-')) throw InputError("command line", "options come after the command; see tocca --help");
  return run_command(arguments, out, err);
}

int complain(std::ostream& err, std::string message, ExitCode code) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  err << "tocca: " << message << std::endl;
  return code;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  try {
    detail::matrix_unit();  // a mistake in the environment shows before anything is begun
    const int code = dispatch(arguments, out, err);
    if (!out.flush()) throw Error("stdout", "cannot write the output");
    return code;
  } catch (const InputError& error) {
    return complain(err, error.what(), kBadInput);
  } catch (const Interrupted& error) {
    return complain(err, error.what(), kInterrupted);
  } catch (const std::bad_alloc&) {
    return complain(err, "not enough memory; take fewer components, units or samples", kFailed);
  } catch (const std::exception& error) {
    return complain(err, error.what(), kFailed);
  }
}

}  // namespace tocca::cli
