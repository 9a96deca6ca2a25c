#include "tocca/data/readers/label_column.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca::detail {

std::size_t find_label_column(const std::string& path, std::span<const std::string> columns,
                              const std::string& wanted) {
  if (wanted.empty() && columns.size() == 1) return 0;
  if (wanted.empty()) {
    throw InputError(path, fmt::format("label column not chosen: got {} columns ({}), need one; write {}:COLUMN",
                                       columns.size(), name_some(columns, 20), path));
  }
  const auto found = std::find(columns.begin(), columns.end(), wanted);
  if (found == columns.end()) {
    throw InputError(path, fmt::format("label column not found: got '{}', need one of {}; check the name", wanted,
                                       name_some(columns, 20)));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace tocca::detail
