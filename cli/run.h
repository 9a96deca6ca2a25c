/// The command `tocca` as a function, so that tests need no process.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace tocca::cli {

/// How a command ended, as the exit status of the process.
using ExitCode = int;
inline constexpr ExitCode kSuccess = 0;
inline constexpr ExitCode kFailed = 1;
inline constexpr ExitCode kBadInput = 2;
inline constexpr ExitCode kInterrupted = 130;

/// Runs `tocca ARGUMENTS...`: results go to `out`, messages to `err`. Never throws; whatever goes wrong is one line on
/// `err` that starts with "tocca: ".
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace tocca::cli
