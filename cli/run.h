/// The command `tocca` as a function, so that tests need no process.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace tocca::cli {

/// How a command ended, as the exit status of the process.
enum ExitCode { kSuccess = 0, kFailed = 1, kBadInput = 2, kInterrupted = 130 };

/// Runs `tocca ARGUMENTS...`: results go to `out`, messages to `err`. Never throws; whatever goes wrong is one line on
/// `err` that starts with "tocca: ".
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace tocca::cli
