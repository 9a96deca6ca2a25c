#include "tocca/report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tocca/core/error.h"
#include "tocca/report/axis.h"
#include "tocca/report/markup.h"

namespace tocca {
namespace {

constexpr double kWidth = 720, kHeight = 420, kLeft = 70, kRight = 150, kTop = 12, kBottom = 52;

struct Frame {
  detail::Axis x, y;

  [[nodiscard]] double across(double value) const { return kLeft + (kWidth - kLeft - kRight) * x.at(value); }
  [[nodiscard]] double down(double value) const { return kHeight - kBottom - (kHeight - kTop - kBottom) * y.at(value); }
};

bool shown(const PlotSeries& series, std::size_t i) { return std::isfinite(series.x[i]) && std::isfinite(series.y[i]); }

Frame frame_of(const std::vector<PlotSeries>& series) {
  double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
  for (const PlotSeries& s : series) {
    if (s.x.size() != s.y.size()) {
      throw InputError("svg_plot",
                       fmt::format("series '{}': got {} x and {} y, need as many", s.name, s.x.size(), s.y.size()));
    }
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!shown(s, i)) continue;
      const double point[2] = {s.x[i], s.y[i]};
      for (int j = 0; j < 2; ++j) {
        low[j] = std::min(low[j], point[j]);
        high[j] = std::max(high[j], point[j]);
      }
    }
  }
  if (low[0] > high[0]) low[0] = low[1] = 0, high[0] = high[1] = 1;
  return {detail::make_axis(low[0], high[0]), detail::make_axis(low[1], high[1])};
}

std::string scales(const Frame& frame, const std::string& x_label, const std::string& y_label) {
  constexpr const char* kLine =
      R"(<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="currentColor" stroke-opacity=".12"/>)";
  constexpr const char* kText = R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill-opacity=".7"{}>{}</text>)";
  std::string text;
  for (const double tick : frame.x.ticks) {
    const double x = frame.across(tick);
    text += fmt::format(fmt::runtime(kLine), x, x, kTop, kHeight - kBottom) +
            fmt::format(fmt::runtime(kText), x, kHeight - kBottom + 18, "middle", "", frame.x.label(tick)) + '\n';
  }
  for (const double tick : frame.y.ticks) {
    const double y = frame.down(tick);
    text += fmt::format(fmt::runtime(kLine), kLeft, kWidth - kRight, y, y) +
            fmt::format(fmt::runtime(kText), kLeft - 8, y + 4, "end", "", frame.y.label(tick)) + '\n';
  }
  const double middle = (kTop + kHeight - kBottom) / 2;
  return text +
         fmt::format(fmt::runtime(kText), (kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", "",
                     detail::escape_markup(x_label)) +
         fmt::format(fmt::runtime(kText), 16.0, middle, "middle",
                     fmt::format(R"x( transform="rotate(-90 16 {:.1f})")x", middle), detail::escape_markup(y_label)) +
         '\n';
}

std::string dots(const Frame& frame, const PlotSeries& series, std::size_t number) {
  const std::string_view colour = detail::palette(number);
  const double y = kTop + 14 + 20 * static_cast<double>(number);
  std::string text =
      fmt::format(R"(<g fill="{0}"><circle cx="{1}" cy="{2}" r="4.5"/></g><text x="{3}" y="{4}">{5}</text>)"
                  "\n",
                  colour, kWidth - kRight + 22, y, kWidth - kRight + 34, y + 4, detail::escape_markup(series.name));
  text += fmt::format(R"(<g fill="{}" fill-opacity=".8">)", colour);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!shown(series, i)) continue;
    text +=
        fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5"/>)", frame.across(series.x[i]), frame.down(series.y[i]));
  }
  return text + "</g>\n";
}

}  // namespace

std::string svg_plot(const std::vector<PlotSeries>& series, const std::string& x_label, const std::string& y_label) {
  const Frame frame = frame_of(series);
  std::string svg = fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" )"
                                R"(fill="currentColor" font-family="system-ui, sans-serif" font-size="13">)"
                                R"(<title>{} against {}</title>)"
                                "\n",
                                kWidth, kHeight, detail::escape_markup(y_label), detail::escape_markup(x_label));
  svg += scales(frame, x_label, y_label);
  for (std::size_t s = 0; s < series.size(); ++s) svg += dots(frame, series[s], s);
  return svg + "</svg>\n";
}

}  // namespace tocca
