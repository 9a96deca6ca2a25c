#include "tocca/report/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/report/grid.h"
#include "tocca/report/table.h"

namespace tocca {
namespace {

using detail::Grid;
using detail::GridLine;

bool any_best(const Grid& grid) {
  return std::any_of(grid.lines.begin(), grid.lines.end(), [](const GridLine& line) {
    return std::any_of(line.cells.begin(), line.cells.end(), [](const auto& c) { return c && c->best; });
  });
}

std::vector<std::string> header(const Grid& grid, std::string_view suffix = "") {
  std::vector<std::string> cells{"method"};
  if (grid.several_n) cells.emplace_back("n");
  for (const auto& column : grid.columns) cells.push_back(fmt::format("{}{}", column.label, suffix));
  return cells;
}

/// Text for Markdown: nothing in it is taken for a table's bar or for markup.
std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view(R"(\|*_`<[)").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace

std::string text_table(const Report& report) {
  const Grid grid = detail::arrange(report.rows);
  const bool marks = any_best(grid);
  // A blank where others have a mark keeps the numbers of a column, and its header, in line.
  const std::string_view blank = marks ? " " : "";
  std::vector<std::vector<std::string>> rows{header(grid, blank)};
  for (const GridLine& line : grid.lines) {
    std::vector<std::string> cells{line.method};
    if (grid.several_n) cells.push_back(fmt::to_string(line.n));
    for (const auto& cell : line.cells)
      cells.push_back(fmt::format("{}{}", detail::cell_text(cell), cell && cell->best ? "*" : blank));
    rows.push_back(std::move(cells));
  }
  std::string text = report.title.empty() ? "" : report.title + '\n';
  text += fmt::format("{}{}\n", grid.caption,
                      !marks           ? ""
                      : grid.several_n ? "; * largest for its n"
                                       : "; * largest of its column");
  if (!grid.lines.empty()) text += fmt::format("\n{}", align(rows));
  return text;
}

std::string markdown_table(const Report& report) {
  const Grid grid = detail::arrange(report.rows);
  std::vector<std::string> head = header(grid);
  for (std::string& cell : head) cell = markdown_text(cell);
  std::vector<std::string> rule(head.size(), "---:");
  rule.front() = ":---";
  std::string text = markdown_row(head) + markdown_row(rule);
  for (const GridLine& line : grid.lines) {
    std::vector<std::string> cells{markdown_text(line.method)};
    if (grid.several_n) cells.push_back(fmt::to_string(line.n));
    for (const auto& cell : line.cells) {
      const std::string_view stars = cell && cell->best ? "**" : "";
      cells.push_back(fmt::format("{0}{1}{0}", stars, detail::cell_text(cell)));
    }
    text += markdown_row(cells);
  }
  return fmt::format("{}\n{}\n", text, markdown_text(grid.caption));
}

}  // namespace tocca
