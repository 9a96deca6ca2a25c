/// Plain text in aligned columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tocca {

/// Columns that UTF-8 text takes on a terminal: combining marks take none, East Asian wide characters two.
std::size_t display_width(std::string_view text);

/// One line per row, columns two spaces apart, each line ended by '\n' without trailing spaces. The first row is the
/// header. A column is set flush right where every cell below the header is a number, a dash or empty. Rows may have
/// different lengths; line breaks within a cell become spaces.
///
///     align({{"view", "samples"}, {"left", "1000"}})  →  "view  samples\nleft     1000\n"
std::string align(const std::vector<std::vector<std::string>>& rows);

}  // namespace tocca
