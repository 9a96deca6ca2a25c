#include "tocca/report/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tocca/core/error.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SvgPlot, HasADotForEachPointScalesAndALegend) {
  const std::string svg = svg_plot({{"one", {0, 1}, {0.5, 0.7}}, {"two", {0.5}, {0.6}}}, "x & y", "accuracy");
  EXPECT_EQ(count(svg, "r=\"3.5\""), 3U);
  EXPECT_EQ(count(svg, "r=\"4.5\""), 2U);
  EXPECT_THAT(svg, HasSubstr("x &amp; y"));
  EXPECT_THAT(svg, HasSubstr(">0.60<"));
  EXPECT_THAT(svg, HasSubstr(">two<"));
}

// A larger x lies further right, a larger y further up.
TEST(SvgPlot, PutsPointsWhereTheyBelong) {
  const std::string svg = svg_plot({{"s", {0, 1}, {0, 1}}}, "x", "y");
  double x[2], y[2];
  std::size_t at = svg.rfind("fill-opacity=\".8\"");
  for (int i = 0; i < 2; ++i) {
    at = svg.find("<circle", at + 1);
    ASSERT_EQ(std::sscanf(svg.c_str() + at, "<circle cx=\"%lf\" cy=\"%lf\"", &x[i], &y[i]), 2);
  }
  EXPECT_LT(x[0], x[1]);
  EXPECT_GT(y[0], y[1]);
}

TEST(SvgPlot, LeavesOutWhatIsNotFinite) {
  const std::string svg = svg_plot({{"s", {0, std::nan(""), 2}, {1, 1, HUGE_VAL}}}, "x", "y");
  EXPECT_EQ(count(svg, "r=\"3.5\""), 1U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg_plot({}, "x", "y"), HasSubstr("</svg>"));
  EXPECT_THROW(svg_plot({{"s", {1}, {}}}, "x", "y"), InputError);
}

}  // namespace
}  // namespace tocca
