#include "tocca/core/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tocca/core/error.h"

namespace tocca {
namespace {

class WorkersTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, WorkersTest, testing::Values(1, 2, 4));

TEST_P(WorkersTest, RunsEveryTaskOnceInEverySection) {
  Workers workers(GetParam());
  for (int section = 0; section < 500; ++section) {
    std::vector<std::atomic<int>> calls(13);
    workers.run(13, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& count : calls) ASSERT_EQ(count.load(), 1);
  }
}

TEST_P(WorkersTest, RethrowsTheFirstErrorAndStaysUsable) {
  Workers workers(GetParam());
  try {
    workers.run(8, [](Index i) {
      if (i >= 3) throw std::runtime_error(std::to_string(i));
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "3");
  }
  std::atomic<int> sum = 0;
  workers.run(4, [&](Index i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum.load(), 6);
}

TEST_P(WorkersTest, NestedSectionsRunInTheirTask) {
  Workers workers(GetParam());
  std::atomic<int> sum = 0;
  workers.run(3, [&](Index) { workers.run(5, [&](Index i) { sum += static_cast<int>(i); }); });
  EXPECT_EQ(sum.load(), 30);
}

TEST(Workers, RefusesImpossibleCounts) {
  EXPECT_THROW(Workers(0), InputError);
  EXPECT_THROW(Workers(100000), InputError);
}

}  // namespace
}  // namespace tocca
