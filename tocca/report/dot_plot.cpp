#include "tocca/report/dot_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tocca/report/axis.h"
#include "tocca/report/markup.h"
#include "tocca/report/table.h"

namespace tocca::detail {
namespace {

constexpr double kWidth = 720, kRight = 24, kLane = 13, kLegendLine = 22;

double error_of(const GridCell& cell) { return std::isfinite(cell.standard_error) ? cell.standard_error : 0; }

struct Plot {
  const Grid& grid;
  std::vector<std::size_t> columns;  ///< of the grid, those shown
  Axis axis;
  double left = 0, top = 0, row = 0;

  [[nodiscard]] double x(double value) const { return left + (kWidth - kRight - left) * axis.at(value); }
  [[nodiscard]] double y(std::size_t line) const { return top + row * static_cast<double>(line); }
  [[nodiscard]] double bottom() const { return y(grid.lines.size()); }
};

std::string legend(Plot& plot) {
  std::string text;
  double x = plot.left, y = 14;
  for (std::size_t k = 0; k < plot.columns.size(); ++k) {
    const std::string& label = plot.grid.columns[plot.columns[k]].label;
    const double width = 34 + 6.6 * static_cast<double>(display_width(label));
    if (x > plot.left && x + width > kWidth) {
      x = plot.left;
      y += kLegendLine;
    }
    text +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{}\" r=\"4.5\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                    x + 5, y - 4, palette(k), x + 15, y, escape_markup(label));
    x += width;
  }
  plot.top = y + 16;
  return text;
}

std::string scale(const Plot& plot, const std::string& metric) {
  std::string text;
  for (const double tick : plot.axis.ticks)
    text += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" "
        "stroke-opacity=\".12\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\" "
        "fill-opacity=\".7\">{4}</text>\n",
        plot.x(tick), plot.top, plot.bottom(), plot.bottom() + 18, plot.axis.label(tick));
  return text + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill-opacity=\".7\">{}</text>\n",
                            (plot.left + kWidth - kRight) / 2, plot.bottom() + 38, escape_markup(metric));
}

std::string dot(const Plot& plot, const GridLine& line, std::size_t k, double y) {
  const std::size_t j = plot.columns[k];
  if (!line.cells[j]) return "";
  const GridCell& cell = *line.cells[j];
  const double e = error_of(cell);
  return fmt::format(
      "<g fill=\"{0}\" stroke=\"{0}\"><title>{1}, {2}: {3}</title><line x1=\"{4:.1f}\" x2=\"{5:.1f}\" y1=\"{6:.1f}\" "
      "y2=\"{6:.1f}\" stroke-width=\"2\" stroke-opacity=\".6\"/><circle cx=\"{7:.1f}\" cy=\"{6:.1f}\" r=\"4.5\" "
      "stroke=\"none\"/></g>\n",
      palette(k), escape_markup(line.label), escape_markup(plot.grid.columns[j].label), cell_text(line.cells[j]),
      plot.x(cell.mean - e), plot.x(cell.mean + e), y, plot.x(cell.mean));
}

std::string lines(const Plot& plot) {
  std::string text;
  for (std::size_t i = 0; i < plot.grid.lines.size(); ++i) {
    const GridLine& line = plot.grid.lines[i];
    const double middle = plot.y(i) + plot.row / 2;
    if (i > 0)
      text += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" "
          "stroke-opacity=\".08\"/>\n",
          plot.left, kWidth - kRight, plot.y(i));
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", plot.left - 14, middle + 4,
                        escape_markup(line.label));
    for (std::size_t k = 0; k < plot.columns.size(); ++k) {
      const double lane = static_cast<double>(k) - (static_cast<double>(plot.columns.size()) - 1) / 2;
      text += dot(plot, line, k, middle + kLane * lane);
    }
  }
  return text;
}

/// The axis over all dots and bars shown; false where there are none.
bool set_axis(Plot& plot) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const GridLine& line : plot.grid.lines)
    for (const std::size_t j : plot.columns)
      if (const auto& cell = line.cells[j]) {
        low = std::min(low, cell->mean - error_of(*cell));
        high = std::max(high, cell->mean + error_of(*cell));
      }
  if (low > high) return false;
  plot.axis = make_axis(low, high);
  return true;
}

}  // namespace

std::string dot_plot(const Grid& grid, const std::string& metric) {
  Plot plot{grid, {}, {}, 0, 0, 0};
  for (std::size_t j = 0; j < grid.columns.size(); ++j)
    if (grid.columns[j].metric == metric) plot.columns.push_back(j);
  if (!set_axis(plot)) return "";
  std::size_t longest = 0;
  for (const GridLine& line : grid.lines) longest = std::max(longest, display_width(line.label));
  plot.left = std::clamp(22 + 7.0 * static_cast<double>(longest), 80.0, 320.0);
  plot.row = kLane * static_cast<double>(plot.columns.size()) + 15;
  const std::string key = legend(plot);
  const std::string body = scale(plot, metric) + lines(plot);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" fill=\"currentColor\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\"><title>{} by method</title>\n{}{}</svg>\n",
      kWidth, plot.bottom() + 46, escape_markup(metric), key, body);
}

}  // namespace tocca::detail
