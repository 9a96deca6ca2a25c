#include "tocca/testing/gradient_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tocca/core/error.h"

namespace tocca::testing {
namespace {

double sum_of_sines(const Matrix<double>& x) { return x.array().sin().sum(); }
const Matrix<double> kAt = (Matrix<double>(2, 3) << 0, 1, -2, 0.3, 5, -0.7).finished();
const Matrix<double> kRight = kAt.array().cos();

TEST(GradientCheck, PassesARightGradient) { EXPECT_LT(max_gradient_error(sum_of_sines, kAt, kRight), 1e-8); }

TEST(GradientCheck, MeasuresTheErrorOfOneWrongEntry) {
  Matrix<double> wrong = kRight;
  wrong(1, 2) += 0.01;
  EXPECT_NEAR(max_gradient_error(sum_of_sines, kAt, wrong), 0.01, 1e-7);
}

TEST(GradientCheck, LargeGradientsAreComparedRelatively) {
  const auto loss = [](const Matrix<double>& x) { return 1000 * x.sum(); };
  EXPECT_NEAR(max_gradient_error(loss, kAt, Matrix<double>::Constant(2, 3, 1010)), 10.0 / 1010, 1e-6);
}

TEST(GradientCheck, NotFiniteIsInfinitelyWrong) {
  Matrix<double> wrong = kRight;
  wrong(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(max_gradient_error(sum_of_sines, kAt, wrong)));
}

TEST(GradientCheck, RefusesBadInput) {
  EXPECT_THAT([] { max_gradient_error(sum_of_sines, kAt, Matrix<double>(3, 2)); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::StrEq("[max_gradient_error] shape of the gradient: got 3 x 2, need 2 x 3; pass one entry "
                                   "for each of `at`")));
  EXPECT_THAT([] { max_gradient_error(sum_of_sines, kAt, kRight, 0); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::StrEq("[max_gradient_error] step: got 0, need a positive number; use 1e-6")));
}

}  // namespace
}  // namespace tocca::testing
