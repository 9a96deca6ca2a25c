#include "cli/halves.h"

#include <gtest/gtest.h>

namespace tocca::cli {
namespace {

TEST(LeftAndRight, CutsEveryRowOfPixels) {
  Matrix<float> images(2, 16);
  for (Index i = 0; i < images.size(); ++i) images.data()[i] = static_cast<float>(i);
  const Views views = left_and_right(Table(images), 4);
  EXPECT_EQ(views.views[0].values.type(), NumberType::f4);
  EXPECT_EQ(views.views[0].columns(), 8);
  EXPECT_EQ(views.views[0].values.at(0, 2), 4);   // second row of pixels, first column
  EXPECT_EQ(views.views[1].values.at(0, 2), 6);   // second row, third column
  EXPECT_EQ(views.views[1].values.at(1, 7), 31);  // the last pixel
  EXPECT_EQ(views.views[1].features[2], "y1_x2");
}

}  // namespace
}  // namespace tocca::cli
