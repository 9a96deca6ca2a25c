#include "tocca/metrics/survival.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/golden.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Numbers = std::vector<double>;
using Events = std::vector<int>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Cohort {
  Numbers risk, times;
  Events events;
};

/// n samples, with risks and times among the first few whole numbers, and some of everything missing.
Cohort random_cohort(Rng rng, std::size_t n, std::uint64_t values) {
  Cohort cohort;
  for (std::size_t i = 0; i < n; ++i) {
    cohort.risk.push_back(static_cast<double>(rng.below(values)));
    cohort.times.push_back(rng.below(10) == 0 ? kNaN : static_cast<double>(rng.below(values)));
    cohort.events.push_back(static_cast<int>(rng.below(3)) - 1);
  }
  return cohort;
}

/// Straight from the definition, pair by pair.
double by_pairs(const Cohort& c) {
  double comparable = 0, concordant = 0;
  for (std::size_t i = 0; i < c.risk.size(); ++i) {
    for (std::size_t j = 0; j < c.risk.size(); ++j) {
      if (std::isnan(c.times[i]) || std::isnan(c.times[j]) || c.events[i] != 1 || c.events[j] < 0) continue;
      const bool shorter = c.times[i] < c.times[j] || (c.times[i] == c.times[j] && c.events[j] == 0);
      if (!shorter) continue;
      ++comparable;
      concordant += c.risk[i] > c.risk[j] ? 1 : c.risk[i] == c.risk[j] ? 0.5 : 0;
    }
  }
  return concordant / comparable;
}

TEST(ConcordanceIndex, GoldenValues) {
  for (const char* name : {"survival_distinct", "survival_tied"}) {
    const testing::Golden golden(name, "metrics_reference.json");
    EXPECT_NEAR(concordance_index(golden.get<Numbers>("risk"), golden.get<Numbers>("times"), golden.integers("events")),
                golden.number("concordance_index"), 1e-14)
        << name;
  }
}

TEST(ConcordanceIndex, ByHand) {
  // Pairs: (0, 1), (0, 2) concordant, (0, 3) tied in risk; of 2: (2, 3) reversed; 1 and 3 are censored.
  EXPECT_DOUBLE_EQ(concordance_index(Numbers{5, 1, 2, 5}, Numbers{1, 2, 3, 4}, Events{1, 0, 1, 0}), 2.5 / 4);
  // Of equal times only the event against the one censored, which counts as longer.
  EXPECT_EQ(concordance_index(Numbers{2, 1}, Numbers{3, 3}, Events{1, 0}), 1);
  EXPECT_EQ(concordance_index(Numbers{2, 1}, Numbers{3, 3}, Events{0, 1}), 0);
  EXPECT_TRUE(std::isnan(concordance_index(Numbers{2, 1}, Numbers{3, 3}, Events{1, 1})));
}

TEST(ConcordanceIndex, IsThatOfAllPairs) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Cohort cohort = random_cohort(Rng(seed), 60, seed % 2 == 0 ? 6 : 1000);
    EXPECT_DOUBLE_EQ(concordance_index(cohort.risk, cohort.times, cohort.events), by_pairs(cohort)) << seed;
  }
}

TEST(ConcordanceIndex, OnlyTheOrderOfRisksMatters) {
  Cohort cohort = random_cohort(Rng(3), 100, 20);
  const double c = concordance_index(cohort.risk, cohort.times, cohort.events);
  Numbers other;
  for (const double risk : cohort.risk) other.push_back(std::exp(risk / 3) - 40);
  EXPECT_EQ(concordance_index(other, cohort.times, cohort.events), c);
  for (double& risk : other) risk = -risk;
  EXPECT_DOUBLE_EQ(concordance_index(other, cohort.times, cohort.events), 1 - c);
  std::fill(other.begin(), other.end(), 1);
  EXPECT_EQ(concordance_index(other, cohort.times, cohort.events), 0.5);
}

TEST(ConcordanceIndex, IsFastForManySamples) {
  // 10¹⁰ pairs, which nobody would wait for one by one; more of them than 32 bits count.
  constexpr std::size_t kSamples = 200'000;
  Numbers times, risk;
  for (std::size_t i = 0; i < kSamples; ++i) {
    times.push_back(static_cast<double>((i * 7919) % kSamples));
    risk.push_back(-times.back());
  }
  EXPECT_EQ(concordance_index(risk, times, Events(kSamples, 1)), 1);
}

TEST(ConcordanceIndex, NotANumberWithoutComparablePairs) {
  EXPECT_TRUE(std::isnan(concordance_index({}, {}, {})));
  EXPECT_TRUE(std::isnan(concordance_index(Numbers{1, 2}, Numbers{1, 2}, Events{0, 1})));
  EXPECT_TRUE(std::isnan(concordance_index(Numbers{1, 2}, Numbers{1, 2}, Events{1, -1})));
  EXPECT_TRUE(std::isnan(concordance_index(Numbers{1, 2}, Numbers{1, kNaN}, Events{1, 0})));
}

TEST(ConcordanceIndex, RefusesBadInput) {
  EXPECT_THAT(
      [] {
        concordance_index(Numbers{1, kNaN}, Numbers{1, 2}, Events{1, 1});
      },
      ThrowsMessage<InputError>(StrEq("[concordance_index] risk of sample 1 (counted from 0): got nan, need a number; "
                                      "check the training, or mark the sample as missing")));
  // A sample that is left out needs no risk.
  EXPECT_EQ(concordance_index(Numbers{3, 1, kNaN, kNaN}, Numbers{1, 2, kNaN, 4}, Events{1, 0, 1, -1}), 1);
  EXPECT_THAT(
      [] {
        concordance_index(Numbers{1, 3}, Numbers{1, 2}, Events{1, 2});
      },
      ThrowsMessage<InputError>(StrEq("[concordance_index] event of sample 1 (counted from 0): got 2, need 1 (yes), 0 "
                                      "(no) or -1 (missing); recode it")));
  EXPECT_THAT(
      [] {
        concordance_index(Numbers{1}, Numbers{1, 2}, Events{1, 1});
      },
      ThrowsMessage<InputError>(StrEq("[concordance_index] number of risks: got 1, need 2; pass one for each time")));
  EXPECT_THAT(
      [] {
        concordance_index(Numbers{1, 2}, Numbers{1, 2}, Events{1});
      },
      ThrowsMessage<InputError>(StrEq("[concordance_index] number of events: got 1, need 2; pass one for each time")));
}

}  // namespace
}  // namespace tocca
