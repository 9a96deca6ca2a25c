#include "tocca/metrics/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Critical values of Student's distribution, as printed in tables.
TEST(Paired, StudentMeetsTheTables) {
  struct Entry {
    Index degrees;
    double t, p;
  };
  for (const Entry& entry : {Entry{1, 12.7062047, 0.05},
                             {2, 4.30265273, 0.05},
                             {3, 3.18244631, 0.05},
                             {4, 2.77644511, 0.05},
                             {7, 2.36462425, 0.05},
                             {10, 3.16927267, 0.01},
                             {29, 2.04522964, 0.05},
                             {30, 1.69726089, 0.1},
                             {100, 1.98397152, 0.05}}) {
    EXPECT_NEAR(student_two_sided(entry.t, entry.degrees), entry.p, 1e-8) << entry.degrees;
    EXPECT_NEAR(student_two_sided(-entry.t, entry.degrees), entry.p, 1e-8) << entry.degrees;
  }
}

TEST(Paired, StudentAtItsEnds) {
  for (const Index degrees : {1, 2, 3, 8}) {
    EXPECT_EQ(student_two_sided(0, degrees), 1);
    EXPECT_EQ(student_two_sided(std::numeric_limits<double>::infinity(), degrees), 0);
    EXPECT_GE(student_two_sided(1e8, degrees), 0);
  }
}

// By hand: mean 0.02, s² = 0.0001, J = 5, share 0.25: standard error √(0.45 · 0.0001) = 0.0067082.
TEST(Paired, CorrectedTestByHand) {
  const double r = std::sqrt(0.0001);
  const std::vector<double> d = {0.02 - r, 0.02 - r, 0.02, 0.02 + r, 0.02 + r};
  const PairedTest test = corrected_resampled_t_test(d, 0.25);
  EXPECT_EQ(test.count, 5);
  EXPECT_NEAR(test.difference, 0.02, 1e-15);
  EXPECT_NEAR(test.standard_error, 0.00670820393249937, 1e-15);
  EXPECT_NEAR(test.t, 2.98142396999972, 1e-10);
  EXPECT_NEAR(test.p, student_two_sided(2.98142396999972, 4), 1e-12);
  EXPECT_LT(corrected_resampled_t_test(d, 0).p, test.p) << "the correction is towards no difference";
}

TEST(Paired, WhatIsMissingIsLeftOut) {
  const std::vector<double> d = {0.1, kNaN, 0.3};
  EXPECT_EQ(corrected_resampled_t_test(d, 0).count, 2);
  EXPECT_NEAR(corrected_resampled_t_test(d, 0).difference, 0.2, 1e-15);
}

TEST(Paired, NothingToTest) {
  const PairedTest one = corrected_resampled_t_test(std::vector<double>{0.5}, 0.1);
  EXPECT_EQ(one.difference, 0.5);
  EXPECT_TRUE(std::isnan(one.p) && std::isnan(one.t) && std::isnan(one.standard_error));
  EXPECT_EQ(corrected_resampled_t_test(std::vector<double>{0, 0, 0}, 0.1).p, 1);
  // Twins show no variation to test against, whatever rounding makes of it.
  for (const double d : {0.5, 0.1, -0.3}) {
    const PairedTest twins = corrected_resampled_t_test(std::vector<double>{d, d, 3 * d / 3}, 0.1);
    EXPECT_TRUE(std::isnan(twins.p) && std::isnan(twins.t)) << d;
    EXPECT_NEAR(twins.difference, d, 1e-15);
  }
}

}  // namespace
}  // namespace tocca
