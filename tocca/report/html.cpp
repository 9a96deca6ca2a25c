#include "tocca/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/report/dot_plot.h"
#include "tocca/report/grid.h"
#include "tocca/report/markup.h"

namespace tocca {
namespace {

using detail::escape_markup;
using detail::Grid;
using detail::GridLine;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #22272e; --soft: #626b76; --rule: #dfe3e8; --paper: #ffffff; --mark: #eef3f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d9dee4; --soft: #959eaa; --rule: #333a43; --paper: #171a1f; --mark: #222b36; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 3rem 1.5rem 2rem; }
h1 { margin: 0 0 1rem; font-size: 1.7rem; font-weight: 650; line-height: 1.2; letter-spacing: -.01em; }
h2::first-letter { text-transform: uppercase; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.05rem; font-weight: 650; }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 0 0 2rem; }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; padding-top: .6rem; text-align: left; color: var(--soft); font-size: .85rem; }
th, td { padding: .4rem .9rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th { font-weight: 600; }
thead th { border-bottom: 1.5px solid var(--soft); font-size: .85rem; color: var(--soft); }
th:first-child { text-align: left; padding-left: .3rem; }
tbody th { font-weight: 500; }
td span { color: var(--soft); }
td.best { background: var(--mark); font-weight: 650; }
td.best span { font-weight: 400; }
svg { display: block; width: 100%; height: auto; max-width: 46rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.5rem; }
figure { margin: 0; }
figcaption { margin-bottom: .5rem; color: var(--soft); font-size: .9rem; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--soft); font-size: .85rem; }
code { font: .95em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; color: var(--ink); }
@media print { main { padding: 0; } }
)";

std::string facts(const Report& report) {
  if (report.facts.empty()) return "";
  std::string text = "<dl>\n";
  for (const auto& [name, value] : report.facts)
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(name), escape_markup(value));
  return text + "</dl>\n";
}

std::string table_cell(const std::optional<detail::GridCell>& cell) {
  std::string text = detail::cell_text(cell);
  const std::size_t error = text.find(" ±");
  if (error != std::string::npos) text = text.substr(0, error) + " <span>" + text.substr(error + 1) + "</span>";
  if (!cell) text = "<span>" + text + "</span>";
  return fmt::format("<td{}>{}</td>", cell && cell->best ? " class=\"best\"" : "", text);
}

std::string table(const Grid& grid) {
  std::string head = "<th scope=\"col\">method</th>";
  if (grid.several_n) head += "<th scope=\"col\">n</th>";
  for (const auto& column : grid.columns) head += fmt::format("<th scope=\"col\">{}</th>", escape_markup(column.label));
  std::string body;
  for (const GridLine& line : grid.lines) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", escape_markup(line.method));
    if (grid.several_n) body += fmt::format("<td>{}</td>", line.n);
    for (const auto& cell : line.cells) body += table_cell(cell);
    body += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n"
      "</table></div>\n",
      escape_markup(grid.caption), head, body);
}

std::string plots(const Grid& grid) {
  std::vector<std::string> metrics;
  for (const auto& column : grid.columns)
    if (std::find(metrics.begin(), metrics.end(), column.metric) == metrics.end()) metrics.push_back(column.metric);
  std::string text;
  for (const std::string& metric : metrics) {
    const std::string svg = detail::dot_plot(grid, metric);
    if (svg.empty()) continue;
    const std::string heading = metric.empty() ? "Results by method" : escape_markup(metric) + " by method";
    text += fmt::format("<h2>{}</h2>\n{}", heading, svg);
  }
  return text;
}

std::string figures(const Report& report) {
  if (report.figures.empty()) return "";
  std::string text = "<h2>Figures</h2>\n<div class=\"figures\">\n";
  for (const Figure& figure : report.figures)
    text += fmt::format("<figure>{}{}</figure>\n",
                        figure.title.empty() ? "" : "<figcaption>" + escape_markup(figure.title) + "</figcaption>",
                        figure.svg);
  return text + "</div>\n";
}

std::string footer(const Report& report) {
  return fmt::format("<footer>Produced by tocca {}, seed {}, with <code>{}</code></footer>\n",
                     escape_markup(report.version), report.seed, escape_markup(report.command));
}

}  // namespace

std::string html(const Report& report) {
  const Grid grid = detail::arrange(report.rows);
  const std::string title = escape_markup(report.title.empty() ? "tocca report" : report.title);
  const std::string results = grid.lines.empty() ? "" : table(grid) + plots(grid);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{2}{3}{4}{5}</main>\n</body>\n</html>\n",
      title, kStyle, facts(report), results, figures(report), footer(report));
}

}  // namespace tocca
