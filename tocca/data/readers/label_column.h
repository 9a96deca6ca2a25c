/// Which column of a table holds the labels.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tocca::detail {

/// The index in `columns` (those besides the ids) of the wanted one, or of the only one if `wanted` is empty. Throws
/// InputError listing the columns there are.
std::size_t find_label_column(const std::string& path, std::span<const std::string> columns, const std::string& wanted);

}  // namespace tocca::detail
