#include "tocca/report/table.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tocca {
namespace {

struct Range {
  char32_t first, last;
};
// The blocks that matter in names of samples and methods, not all of Unicode's tables.
constexpr std::array<Range, 4> kZeroWidth{{{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
constexpr std::array<Range, 9> kDoubleWidth{{{0x1100, 0x115F},
                                             {0x2E80, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return r.first <= c && c <= r.last; });
}

/// Takes the first code point off `text`; a broken sequence counts byte by byte.
char32_t take(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t c = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  std::size_t used = 1;
  while (used < length && used < text.size() && (static_cast<unsigned char>(text[used]) & 0xC0U) == 0x80)
    c = (c << 6U) | (static_cast<unsigned char>(text[used++]) & 0x3FU);
  text.remove_prefix(used);
  return c;
}

bool numeric(const std::string& cell) {
  constexpr std::string_view dash = "–";
  if (cell.empty() || cell.starts_with(dash) || cell == "nan") return true;
  const std::size_t first = cell.find_first_not_of("+-.");
  return first != std::string::npos && cell[first] >= '0' && cell[first] <= '9';
}

using Rows = std::vector<std::vector<std::string>>;

Rows single_lines(Rows rows) {
  for (auto& row : rows)
    for (auto& cell : row)
      std::replace_if(
          cell.begin(), cell.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return rows;
}

struct Column {
  std::size_t width = 0;
  bool right = true;
};

std::vector<Column> measure(const Rows& rows) {
  std::vector<Column> columns;
  for (const auto& row : rows) {
    columns.resize(std::max(columns.size(), row.size()));
    for (std::size_t j = 0; j < row.size(); ++j) {
      columns[j].width = std::max(columns[j].width, display_width(row[j]));
      if (&row != &rows.front() && !numeric(row[j])) columns[j].right = false;
    }
  }
  return columns;
}

std::string line(const std::vector<std::string>& row, const std::vector<Column>& columns) {
  std::string text;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j > 0) text += "  ";
    const std::string pad(columns[j].width - display_width(row[j]), ' ');
    text += columns[j].right ? pad + row[j] : row[j] + pad;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const char32_t c = take(text);
    if (within(kZeroWidth, c)) continue;
    width += within(kDoubleWidth, c) ? 2 : 1;
  }
  return width;
}

std::string align(const std::vector<std::vector<std::string>>& rows) {
  const Rows clean = single_lines(rows);
  const std::vector<Column> columns = measure(clean);
  std::string text;
  for (const auto& row : clean) text += line(row, columns);
  return text;
}

}  // namespace tocca
