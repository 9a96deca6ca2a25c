#include "tocca/core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tocca {
namespace {

// The published known-answer vectors of Philox-4x32-10 (Random123's kat_vectors).
TEST(Philox, ReproducesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, SplitsAreIndependentOfWhatWasDrawnBefore) {
  Rng fresh(3);
  Rng used(3);
  for (int i = 0; i < 17; ++i) used.bits();
  EXPECT_EQ(fresh.split("a").bits(), used.split("a").bits());
  EXPECT_NE(fresh.split("a").bits(), fresh.split("b").bits());
  EXPECT_NE(fresh.split("a", 0).bits(), fresh.split("a", 1).bits());
  EXPECT_NE(Rng(3).split("a").bits(), Rng(4).split("a").bits());
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(1);
  const int n = 200000;
  double u = 0, u2 = 0, z = 0, z2 = 0, z4 = 0;
  for (int i = 0; i < n; ++i) {
    const double a = rng.uniform();
    const double b = rng.normal();
    ASSERT_GE(a, 0.0);
    ASSERT_LT(a, 1.0);
    u += a, u2 += a * a, z += b, z2 += b * b, z4 += b * b * b * b;
  }
  EXPECT_NEAR(u / n, 0.5, 0.005);
  EXPECT_NEAR(u2 / n, 1.0 / 3, 0.005);
  EXPECT_NEAR(z / n, 0.0, 0.01);
  EXPECT_NEAR(z2 / n, 1.0, 0.02);
  EXPECT_NEAR(z4 / n, 3.0, 0.1);
}

TEST(Rng, PermutationHoldsEveryNumberOnceAndEveryPlaceIsEquallyLikely) {
  Rng rng(5);
  std::vector<int> first(5, 0);
  for (int i = 0; i < 10000; ++i) {
    const auto order = rng.permutation(5);
    EXPECT_EQ(std::set<Index>(order.begin(), order.end()).size(), 5U);
    ++first[static_cast<std::size_t>(order[0])];
  }
  for (const int count : first) EXPECT_NEAR(count, 2000, 200);
}

}  // namespace
}  // namespace tocca
