#include "tocca/linalg/shrinkage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/linalg/cca.h"
#include "tocca/linalg/covariance.h"
#include "tocca/testing/golden.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

using testing::max_error;
using testing::random_matrix;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(Shrinkage, GoldenValues) {
  for (const char* name : {"ledoit_wolf_tall", "ledoit_wolf_wide"}) {
    const testing::Golden golden(name, "linear_reference.json");
    const Shrinkage found = ledoit_wolf(golden.matrix("x"));
    EXPECT_NEAR(found.intensity, golden.number("intensity"), 1e-12) << name;
    EXPECT_NEAR(found.mean_variance, golden.number("mean_variance"), 1e-12) << name;
  }
}

TEST(Shrinkage, RidgeHasTheRatioOfTheShrunkCovariance) {
  Rng rng(4);
  const RowVector<double> scales = RowVector<double>::LinSpaced(4, 1, 3);
  const Matrix<double> x = centre(random_matrix(rng, 12, 4) * scales.asDiagonal()).rows;
  const Shrinkage some = ledoit_wolf(x);
  ASSERT_GT(some.intensity, 0.05);
  ASSERT_LT(some.intensity, 0.9);
  const Matrix<double> identity = Matrix<double>::Identity(4, 4);
  const Matrix<double> shrunk =
      (1 - some.intensity) * (x.transpose() * x) / 12 + some.intensity * some.mean_variance * identity;
  const Matrix<double> ridged = x.transpose() * x / 11 + some.ridge(12) * identity;
  EXPECT_LT(max_error(ridged, shrunk * ridged(0, 0) / shrunk(0, 0)), 1e-12);
  EXPECT_EQ((Shrinkage{0, 3}).ridge(6), 0);
  EXPECT_NEAR((Shrinkage{1, 2}).ridge(5), 2 * 999 * 1.25, 1e-9);
}

TEST(Shrinkage, FallsWithSamplesAndWithStructure) {
  Rng rng(2);
  const Matrix<double> noise = random_matrix(rng, 400, 30);
  const Matrix<double> structured = noise * random_matrix(rng, 30, 30);
  EXPECT_GT(ledoit_wolf(structured.topRows(15)).intensity, 2 * ledoit_wolf(structured).intensity);
  EXPECT_GT(ledoit_wolf(noise).intensity, 2 * ledoit_wolf(structured).intensity);
  for (const Shrinkage& s : {ledoit_wolf(noise), ledoit_wolf(noise.topRows(2)), ledoit_wolf(structured)}) {
    EXPECT_GE(s.intensity, 0);
    EXPECT_LE(s.intensity, 1);
  }
}

TEST(Shrinkage, DoesNotDependOnScaleNorOnTheOrigin) {
  Rng rng(2);
  const Matrix<double> x = random_matrix(rng, 40, 6);
  const Shrinkage plain = ledoit_wolf(x), moved = ledoit_wolf((100 * x).array() + 50);
  EXPECT_NEAR(moved.intensity, plain.intensity, 1e-12);
  EXPECT_NEAR(moved.mean_variance, 1e4 * plain.mean_variance, 1e-8);
}

TEST(Shrinkage, OneColumnAndConstantViewsAreNotShrunk) {
  Rng rng(2);
  EXPECT_EQ(ledoit_wolf(random_matrix(rng, 9, 1)).intensity, 0);
  const Shrinkage constant = ledoit_wolf(Matrix<double>::Constant(5, 3, 0.1));
  EXPECT_EQ(constant.intensity, 0);
  EXPECT_EQ(constant.ridge(5), 0);
}

TEST(Shrinkage, RccaGeneralisesBetterThanPlainCcaOfFewSamples) {
  Rng rng(8);
  const Matrix<double> z = random_matrix(rng, 1050, 1);
  const Matrix<double> x1 = z * random_matrix(rng, 1, 30) + 2 * random_matrix(rng, 1050, 30);
  const Matrix<double> x2 = z * random_matrix(rng, 1, 25) + 2 * random_matrix(rng, 1050, 25);
  const Matrix<double> train1 = x1.topRows(50), train2 = x2.topRows(50);
  const auto held_out = [&](const CcaOptions& options) {
    const CcaSolution s = cca(train1, train2, options);
    EXPECT_LE(s.correlations(0), 1);
    const Vector<double> a = x1.bottomRows(1000) * s.weights1.col(0), b = x2.bottomRows(1000) * s.weights2.col(0);
    const Vector<double> ac = a.array() - a.mean(), bc = b.array() - b.mean();
    return ac.dot(bc) / (ac.norm() * bc.norm());
  };
  const CcaOptions shrunk{.ridge = ledoit_wolf(train1).ridge(50), .ridge2 = ledoit_wolf(train2).ridge(50)};
  EXPECT_GT(held_out(shrunk), held_out({}) + 0.1);
}

TEST(Shrinkage, RefusesBadData) {
  EXPECT_THAT([] { ledoit_wolf(Matrix<double>::Ones(1, 3)); },
              ThrowsMessage<InputError>(
                  StrEq("[ledoit_wolf] shape: got 1 x 3, need at least 2 rows and 1 column; pass the data")));
  EXPECT_THAT(
      [] { ledoit_wolf(Matrix<double>::Constant(3, 2, std::numeric_limits<double>::quiet_NaN())); },
      ThrowsMessage<InputError>(StrEq("[ledoit_wolf] x, row 0, column 0 (counted from 0): got nan, need a finite "
                                      "number; impute it or drop the row")));
}

}  // namespace
}  // namespace tocca
