#include "tocca/report/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tocca::detail {
namespace {

std::string views_label(const ResultRow& row) {
  if (row.train_view.empty()) return row.test_view;
  return row.test_view.empty() ? row.train_view : row.train_view + " → " + row.test_view;
}

std::size_t column_of(Grid& grid, const ResultRow& row, bool several_metrics) {
  const auto found = std::find_if(grid.columns.begin(), grid.columns.end(), [&](const GridColumn& c) {
    return c.train_view == row.train_view && c.test_view == row.test_view && c.metric == row.metric;
  });
  if (found != grid.columns.end()) return static_cast<std::size_t>(found - grid.columns.begin());
  std::string label = views_label(row);
  if (label.empty()) {
    label = row.metric;
  } else if (several_metrics) {
    label += ", " + row.metric;
  }
  grid.columns.push_back({row.train_view, row.test_view, row.metric, label});
  return grid.columns.size() - 1;
}

GridLine& line_of(Grid& grid, const ResultRow& row) {
  const auto found = std::find_if(grid.lines.begin(), grid.lines.end(),
                                  [&](const GridLine& l) { return l.method == row.method && l.n == row.n; });
  if (found != grid.lines.end()) return *found;
  const std::string label = grid.several_n ? fmt::format("{}, n = {}", row.method, row.n) : row.method;
  grid.lines.push_back({row.method, row.n, label, {}});
  return grid.lines.back();
}

/// Marks the best cells of column j among the lines with this n; one method alone is not a best one.
void mark_best(Grid& grid, std::size_t j, Index n) {
  std::vector<GridCell*> cells;
  for (GridLine& line : grid.lines)
    if (line.n == n && line.cells[j]) cells.push_back(&*line.cells[j]);
  if (cells.size() < 2) return;
  const auto best = *std::max_element(cells.begin(), cells.end(), [](auto* a, auto* b) { return a->mean < b->mean; });
  const std::string shown = fmt::format("{:.3f}", best->mean);
  for (GridCell* cell : cells) cell->best = fmt::format("{:.3f}", cell->mean) == shown;
}

std::string splits_text(const std::vector<ResultRow>& rows) {
  const auto [low, high] =
      std::minmax_element(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.splits < b.splits; });
  if (high->splits <= 1) return "one split";
  const std::string count =
      low->splits == high->splits ? fmt::to_string(high->splits) : fmt::format("{}–{}", low->splits, high->splits);
  return fmt::format("mean ± standard error over {} splits", count);
}

std::string caption(const std::vector<ResultRow>& rows, bool several_metrics) {
  if (rows.empty()) return "no results";
  if (several_metrics || rows.front().metric.empty()) return splits_text(rows);
  return rows.front().metric + ", " + splits_text(rows);
}

}  // namespace

Grid arrange(const std::vector<ResultRow>& rows) {
  std::set<std::string> metrics;
  std::set<Index> counts;
  for (const ResultRow& row : rows) {
    metrics.insert(row.metric);
    counts.insert(row.n);
  }
  Grid grid;
  grid.several_n = counts.size() > 1;
  grid.caption = caption(rows, metrics.size() > 1);
  for (const ResultRow& row : rows) {
    const std::size_t j = column_of(grid, row, metrics.size() > 1);
    GridLine& line = line_of(grid, row);
    line.cells.resize(std::max(line.cells.size(), j + 1));
    line.cells[j].reset();
    if (std::isfinite(row.mean)) line.cells[j] = GridCell{row.mean, row.standard_error, false};
  }
  for (GridLine& line : grid.lines) line.cells.resize(grid.columns.size());
  for (std::size_t j = 0; j < grid.columns.size(); ++j)
    for (const Index n : counts) mark_best(grid, j, n);
  return grid;
}

std::string cell_text(const std::optional<GridCell>& cell) {
  if (!cell) return "–";
  if (!std::isfinite(cell->standard_error)) return fmt::format("{:.3f}", cell->mean);
  return fmt::format("{:.3f} ± {:.3f}", cell->mean, cell->standard_error);
}

}  // namespace tocca::detail
