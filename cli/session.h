/// What all commands share: where output goes, how much of it, and the context that computations run in.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress.h"
#include "tocca/core/context.h"
#include "tocca/methods/options.h"
#include "tocca/report/report.h"

namespace tocca::cli {

/// Options that every command takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::string threads;  ///< as given; empty: not given
  std::string seed;
};

class Session {
 public:
  Session(const std::vector<std::string>& arguments, CommonOptions common, std::ostream& out, std::ostream& err);

  /// What the command was asked for, for people; left out with --json.
  void result(std::string_view text);
  /// What is good to know besides; left out with --json and --quiet.
  void note(std::string_view text);
  /// Messages on stderr: "tocca: TEXT", left out with --quiet, and "tocca: warning: TEXT".
  void info(std::string_view text);
  void warn(std::string_view text);
  /// The one object of --json: {"command", "version", "seed", "rows"} and what `more` holds. Does nothing without.
  void json(const nlohmann::ordered_json& rows, std::uint64_t seed, const nlohmann::ordered_json& more);

  /// Log and progress go to this session's streams. `threads` 0: one per processor.
  Context context(Index threads);
  /// The same with --threads, for commands without other options.
  Context context();
  /// Puts --seed and --threads, where given, into the options.
  void apply_common(Options& options) const;

  [[nodiscard]] bool as_json() const { return common_.json; }
  /// As typed, with what a shell would split in quotes: "tocca fit --view 'left=my file.csv'".
  [[nodiscard]] std::string command_line() const;
  /// A report with command line, version and seed filled in.
  [[nodiscard]] Report report(std::string title, std::uint64_t seed) const;

 private:
  std::vector<std::string> arguments_;
  CommonOptions common_;
  std::ostream& out_;
  ProgressLine progress_;
};

/// Result rows as the rows of --json.
nlohmann::ordered_json json_rows(const std::vector<ResultRow>& rows);

}  // namespace tocca::cli
