/// A report as one page.
#pragma once

#include <string>

#include "tocca/report/report.h"

namespace tocca {

/// One self-contained HTML page: facts, the table, a dot plot with error bars per metric, the figures, and how it was
/// produced. It needs no network and no scripts, follows the reader's light or dark theme, and escapes all text (the
/// SVG of figures goes in unchanged).
std::string html(const Report& report);

}  // namespace tocca
