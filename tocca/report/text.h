/// A report as a table for the terminal and for Markdown.
#pragma once

#include <string>

#include "tocca/report/report.h"

namespace tocca {

/// One line per method (and n, where there are several) and one column per "train → test" combination, with cells such
/// as `0.855 ± 0.003`; `*` marks the largest mean of a column, `–` what is absent or NaN. Title and caption come first.
std::string text_table(const Report& report);

/// The same as a Markdown table (GitHub's dialect), the largest mean of a column in bold.
std::string markdown_table(const Report& report);

}  // namespace tocca
