#include "tocca/report/svg_scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tocca/core/error.h"
#include "tocca/report/markup.h"

namespace tocca {
namespace {

constexpr double kWidth = 560, kPlot = 420, kTop = 34;

void check(ConstMatrixRef<double> points, const std::vector<int>& codes, std::size_t classes) {
  const std::string_view where = "svg_scatter";
  if (points.cols() != 2)
    throw InputError(where, fmt::format("points: got {} columns, need 2; choose two components", points.cols()));
  if (!codes.empty() && static_cast<Index>(codes.size()) != points.rows())
    throw InputError(where, fmt::format("codes: got {}, need {}, one per point", codes.size(), points.rows()));
  for (const int code : codes)
    if (code < -1 || code >= static_cast<int>(classes))
      throw InputError(where, fmt::format("class code: got {}, need −1 to {}", code, static_cast<int>(classes) - 1));
}

/// One scale for both axes, the data in the middle.
struct Frame {
  double x = 0, y = 0, scale = 1;

  explicit Frame(ConstMatrixRef<double> points) {
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    for (Index i = 0; i < points.rows(); ++i) {
      if (!points.row(i).allFinite()) continue;
      for (Index j = 0; j < 2; ++j) {
        low[j] = std::min(low[j], points(i, j));
        high[j] = std::max(high[j], points(i, j));
      }
    }
    if (low[0] > high[0]) return;
    x = (low[0] + high[0]) / 2;
    y = (low[1] + high[1]) / 2;
    const double extent = std::max(high[0] - low[0], high[1] - low[1]);
    if (extent > 0) scale = 0.92 * kPlot / extent;
  }
  [[nodiscard]] std::string place(double px, double py) const {
    return fmt::format("{:.1f} {:.1f}", kPlot / 2 + scale * (px - x), kTop + kPlot / 2 - scale * (py - y));
  }
};

/// The points of one class as one path of dots: far smaller than a circle each.
std::string dots(ConstMatrixRef<double> points, const std::vector<int>& codes, int code, const Frame& frame) {
  std::string path;
  for (Index i = 0; i < points.rows(); ++i) {
    const int own = codes.empty() ? 0 : codes[static_cast<std::size_t>(i)];
    if (own == code && points.row(i).allFinite()) path += fmt::format("M{}h0", frame.place(points(i, 0), points(i, 1)));
  }
  return path;
}

struct Series {
  std::string name, colour, path;
};

std::vector<Series> make_series(ConstMatrixRef<double> points, const std::vector<int>& codes,
                                const std::vector<std::string>& names) {
  const Frame frame(points);
  std::vector<Series> series;
  const auto add = [&](int code, const std::string& name, std::string_view colour) {
    std::string path = dots(points, codes, code, frame);
    if (!path.empty()) series.push_back({name, std::string(colour), std::move(path)});
  };
  add(-1, "unlabelled", "#9aa1ab");  // first, so that classes lie above it
  const std::size_t classes = codes.empty() ? 1 : names.size();
  for (std::size_t k = 0; k < classes; ++k) add(static_cast<int>(k), codes.empty() ? "" : names[k], detail::palette(k));
  return series;
}

std::string legend(const std::vector<Series>& series) {
  std::string text;
  double y = kTop + 14;
  for (const Series& s : series) {
    if (s.name.empty()) continue;
    text += fmt::format(R"(<circle cx="{0}" cy="{1}" r="4.5" fill="{2}"/><text x="{3}" y="{4}">{5}</text>)", kPlot + 18,
                        y, s.colour, kPlot + 30, y + 4, detail::escape_markup(s.name));
    text += '\n';
    y += 20;
  }
  return text;
}

}  // namespace

std::string svg_scatter(ConstMatrixRef<double> points, const std::vector<int>& codes,
                        const std::vector<std::string>& class_names, const std::string& title) {
  check(points, codes, class_names.size());
  const std::vector<Series> series = make_series(points, codes, class_names);
  const double size = std::clamp(140 / std::sqrt(static_cast<double>(points.rows()) + 1), 2.5, 6.5);
  const double height = std::max(kTop + kPlot + 2, kTop + 20 * static_cast<double>(series.size()) + 10);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" role="img" fill="currentColor" )"
      R"(font-family="system-ui, sans-serif" font-size="13"><title>{2}</title>)"
      "\n"
      R"(<text x="1" y="18" font-size="14" font-weight="600">{2}</text>)"
      "\n"
      R"(<rect x="1" y="{3}" width="{4}" height="{4}" rx="4" fill="none" stroke="currentColor" stroke-opacity=".2"/>)"
      "\n",
      kWidth, height, detail::escape_markup(title), kTop, kPlot - 1);
  for (const Series& s : series)
    svg += fmt::format(
        R"(<path d="{}" stroke="{}" stroke-width="{:.1f}" stroke-linecap="round" stroke-opacity=".8" fill="none"/>)"
        "\n",
        s.path, s.colour, size);
  return svg + legend(series) + "</svg>\n";
}

}  // namespace tocca
