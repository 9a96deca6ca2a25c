#include "tocca/core/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
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

// Three levels, of which the inner one is in its task's thread.
TEST_P(WorkersTest, NestedSectionsRunEveryTaskOnce) {
  Workers workers(GetParam());
  for (int section = 0; section < 300; ++section) {
    std::vector<std::atomic<int>> calls(3 * 40 * 2);
    workers.run(3, [&](Index i) {
      for (Index half = 0; half < 2; ++half) {
        workers.run(20, [&](Index j) {
          const std::thread::id here = std::this_thread::get_id();
          workers.run(2, [&](Index k) {
            EXPECT_EQ(std::this_thread::get_id(), here);
            ++calls[static_cast<std::size_t>(((i * 2 + half) * 20 + j) * 2 + k)];
          });
        });
      }
    });
    for (const auto& count : calls) ASSERT_EQ(count.load(), 1);
  }
}

TEST_P(WorkersTest, AnErrorOfANestedTaskIsThatOfItsTask) {
  Workers workers(GetParam());
  for (int section = 0; section < 100; ++section) {
    std::atomic<int> finished = 0;
    try {
      workers.run(4, [&](Index i) {
        workers.run(9, [&](Index j) {
          ++finished;
          if (i >= 2 && j >= 5) throw std::runtime_error(std::to_string(10 * i + j));
        });
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "25");
    }
    // In one thread the first error ends its section, and with it all.
    if (GetParam() > 1) {
      EXPECT_EQ(finished.load(), 36);
    }
  }
}

// Threads that have nothing else to do help within a task: both wait there for each other.
TEST(Workers, IdleThreadsHelpWithinATask) {
  Workers workers(2);
  std::atomic<int> there = 0;
  workers.run(2, [&](Index i) {
    if (i == 1) return;
    workers.run(2, [&](Index) {
      ++there;
      while (there.load() < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(there.load(), 2);
}

// Also after they have fallen asleep, and the one that waits for a sleeper's task as well.
TEST(Workers, WakesThoseWhoSleep) {
  Workers workers(3);
  for (int section = 0; section < 20; ++section) {
    while (workers.idle() < 2) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int> there = 0;
    workers.run(3, [&](Index) {
      ++there;
      while (there.load() < 3) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    EXPECT_EQ(there.load(), 3);
  }
}

// The thread that waits for the other's task, asleep by then, helps with what that one has in the end.
TEST(Workers, WakesTheOwnerToHelp) {
  Workers workers(2);
  for (int section = 0; section < 20; ++section) {
    std::atomic<int> there = 0;
    std::atomic<bool> started = false;
    const std::thread::id owner = std::this_thread::get_id();
    workers.run(2, [&](Index) {
      // The owner's task ends when the other has begun, so that it is the owner who waits.
      if (std::this_thread::get_id() == owner) {
        while (!started.load()) std::this_thread::yield();
        return;
      }
      started = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      workers.run(2, [&](Index) {
        ++there;
        while (there.load() < 2) std::this_thread::yield();
      });
    });
    EXPECT_EQ(there.load(), 2);
  }
}

// The inner call belongs to another pool: it runs in its task's thread, as it would without threads.
TEST(Workers, AnotherPoolWithinATaskIsNotUsed) {
  Workers workers(2), others(2);
  std::atomic<int> elsewhere = 0;
  workers.run(4, [&](Index) {
    const std::thread::id here = std::this_thread::get_id();
    others.run(8, [&](Index) { elsewhere += std::this_thread::get_id() != here; });
  });
  EXPECT_EQ(elsewhere.load(), 0);
}

TEST(Workers, ManyCallersShareThem) {
  Workers workers(3);
  std::atomic<int> sum = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int section = 0; section < 100; ++section) {
        workers.run(3, [&](Index) { workers.run(5, [&](Index i) { sum += static_cast<int>(i); }); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 100 * 30);
}

TEST(Workers, RefusesImpossibleCounts) {
  EXPECT_THROW(Workers(0), InputError);
  EXPECT_THROW(Workers(100000), InputError);
}

}  // namespace
}  // namespace tocca
