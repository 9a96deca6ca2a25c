#include "tocca/report/svg_scatter.h"

#include <gmock/gmock.h>

#include <limits>

#include "tocca/core/error.h"

namespace tocca {
namespace {

using testing::HasSubstr;
using testing::Not;

const Matrix<double> kPoints = (Matrix<double>(4, 2) << 0, 0, 10, 5, 5, 10, 2, 2).finished();

TEST(SvgScatter, DrawsAPathAndALegendLinePerClass) {
  const std::string svg = svg_scatter(kPoints, {0, 1, 1, -1}, {"a<b", "c", "unused"}, "T & U");
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("<title>T &amp; U</title>"));
  EXPECT_THAT(svg, HasSubstr(">a&lt;b</text>"));
  EXPECT_THAT(svg, HasSubstr(">unlabelled</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("unused")));
}

TEST(SvgScatter, PlacesPointsWithTheSecondComponentUpwards) {
  // The larger extent fills 92 % of the 420 wide square: 0 and 10 lie at 16.8 and 403.2.
  const std::string svg = svg_scatter(kPoints, {}, {}, "");
  EXPECT_THAT(svg, HasSubstr("M16.8 437.2h0M403.2 244.0h0M210.0 50.8h0"));
}

TEST(SvgScatter, LeavesOutWhatIsNotFinite) {
  Matrix<double> points = kPoints;
  points(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(svg_scatter(points, {}, {}, ""), Not(HasSubstr("nan")));
  EXPECT_THAT(svg_scatter(Matrix<double>(0, 2), {}, {}, ""), Not(HasSubstr("<path")));
  EXPECT_THAT(svg_scatter(Matrix<double>::Constant(3, 2, 1.0), {}, {}, ""), HasSubstr("M210.0 244.0h0M210.0 244.0h0"));
}

TEST(SvgScatter, RejectsWhatDoesNotFit) {
  EXPECT_THROW(svg_scatter(Matrix<double>::Zero(4, 3), {}, {}, ""), InputError);
  EXPECT_THROW(svg_scatter(kPoints, {0, 0}, {"a"}, ""), InputError);
  EXPECT_THROW(svg_scatter(kPoints, {0, 0, 0, 1}, {"a"}, ""), InputError);
  EXPECT_THROW(svg_scatter(kPoints, {0, 0, 0, -2}, {"a"}, ""), InputError);
}

}  // namespace
}  // namespace tocca
