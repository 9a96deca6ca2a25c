#include "tocca/report/axis.h"

#include <gmock/gmock.h>

namespace tocca::detail {
namespace {

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> texts;
  for (const double tick : axis.ticks) texts.push_back(axis.label(tick));
  return texts;
}

TEST(Axis, HasRoundTicksThatCoverTheData) {
  EXPECT_THAT(labels(make_axis(0.70, 0.86)), testing::ElementsAre("0.70", "0.75", "0.80", "0.85"));
  EXPECT_THAT(labels(make_axis(-3, 3)), testing::ElementsAre("-3", "-2", "-1", "0", "1", "2", "3"));
  EXPECT_THAT(labels(make_axis(1000, 9000)), testing::ElementsAre("2000", "4000", "6000", "8000"));
}

TEST(Axis, TakesARangeOfNoWidth) {
  const Axis axis = make_axis(0.5, 0.5);
  EXPECT_LT(axis.low, 0.5);
  EXPECT_GT(axis.high, 0.5);
  EXPECT_NEAR(axis.at(0.5), 0.5, 1e-6);
}

}  // namespace
}  // namespace tocca::detail
