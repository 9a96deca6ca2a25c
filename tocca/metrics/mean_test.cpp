#include "tocca/metrics/mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Mean, MeanAndStandardError) {
  const MeanAndError all = mean_and_standard_error(std::vector<double>{1, 2, kNaN, 3, 6});
  EXPECT_DOUBLE_EQ(all.mean, 3);
  EXPECT_DOUBLE_EQ(all.standard_error, std::sqrt(14.0 / 3) / 2);
  EXPECT_EQ(all.count, 4);
  const MeanAndError one = mean_and_standard_error(std::vector<double>{kNaN, 5});
  EXPECT_EQ(one.mean, 5);
  EXPECT_TRUE(std::isnan(one.standard_error));
  EXPECT_EQ(one.count, 1);
  const MeanAndError none = mean_and_standard_error({});
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_TRUE(std::isnan(none.standard_error));
  EXPECT_EQ(none.count, 0);
}

}  // namespace
}  // namespace tocca
