#include "tocca/ops/pieces.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tocca/linalg/blas.h"
#include "tocca/ops/dense.h"
#include "tocca/ops/nadam.h"
#include "tocca/testing/matchers.h"
#include "tocca/testing/threads.h"

namespace tocca {
namespace {

using tocca::testing::idle_context;
using tocca::testing::random_matrix;

struct Shared {
  std::vector<int> calls;  // of each item
  int pieces = 0, wrong = 0;
};

Shared share(const Pieces& pieces, Index n, Index unit, Index cost) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
  std::atomic<int> count = 0, wrong = 0;
  pieces.share(n, unit, cost, [&](Index first, Index size) {
    ++count;
    const bool whole_units = first % unit == 0 && (size % unit == 0 || first + size == n);
    if (!whole_units || pieces.thread() < 0 || pieces.thread() >= pieces.threads()) ++wrong;
    for (Index i = first; i < first + size; ++i) ++calls[static_cast<std::size_t>(i)];
  });
  return {{calls.begin(), calls.end()}, count, wrong};
}

TEST(Share, DoesEveryItemOnceInWholeUnits) {
  for (const int threads : {1, 2, 5}) {
    const Context context = make_context(threads);
    for (const Index n : {1, 23, 24, 47, 48, 500, 1001}) {
      for (const Index cost : {0, 1, 10'000, 30'000'000}) {
        const Shared shared = share({&context}, n, 24, cost);
        EXPECT_EQ(shared.calls, std::vector<int>(static_cast<std::size_t>(n), 1)) << n << " " << cost;
        EXPECT_EQ(shared.wrong, 0) << n << " " << cost;
      }
    }
  }
}

TEST(Share, IsInOneWithoutIdleThreadsOrWorth) {
  EXPECT_EQ(share({}, 500, 24, 1'000'000).pieces, 1);
  const Context context = idle_context(3);
  EXPECT_EQ(share({&context}, 500, 24, 10).pieces, 1);
  EXPECT_GT(share({&context}, 500, 24, 1'000'000).pieces, 3);
}

// Threads that become idle while the work goes on get their part: both have a task when it begins, and the other's ends
// during the first stretch.
TEST(Share, LooksForIdleThreadsAgain) {
  const Context context = make_context(2);
  const Pieces pieces{&context};
  std::atomic<int> begun = 0, stretches = 0, handed_over = 0;
  std::atomic<bool> over = false;
  context.parallel(2, [&](Index task) {
    ++begun;
    while (begun.load() < 2) std::this_thread::yield();
    if (task == 1) {
      while (!over.load()) std::this_thread::yield();
      return;
    }
    pieces.share(1000, 1, 10'000'000, [&](Index first, Index count) {
      if (first > 0) {
        EXPECT_GT(count, 1);
        ++handed_over;
        return;
      }
      EXPECT_EQ(count, 1);
      ++stretches;
      over = true;
      while (context.workers->idle() == 0) std::this_thread::yield();
    });
  });
  EXPECT_EQ(stretches, 1);
  EXPECT_LT(handed_over, 20);
  EXPECT_GT(handed_over, 8);
}

// Where nobody could help: in a task of a task, or with another pool's threads.
TEST(Share, IsInOneWhereNobodyCanHelp) {
  const Context context = idle_context(3), other = idle_context(3);
  std::atomic<int> pieces = 0;
  context.parallel(2, [&](Index) {
    context.parallel(2, [&](Index) { pieces += share({&context}, 100, 1, 10'000).pieces; });
    pieces += share({&other}, 100, 1, 10'000).pieces;
  });
  EXPECT_EQ(pieces, 6);
}

template <class S>
Matrix<S> random(Rng& rng, Index rows, Index columns) {
  return random_matrix(rng, rows, columns).template cast<S>();
}

// A layer's products and its update, large enough to be shared: the same bits with any threads.
template <class S>
void expect_layer_is_the_same_when_shared(Index samples, Index rows, Index columns) {
  Rng rng(5);
  const Matrix<S> x = random<S>(rng, samples, rows), dy = random<S>(rng, samples, columns);
  const Matrix<S> start = random<S>(rng, 3, rows * columns).cwiseAbs();
  const RowVector<S> bias = random<S>(rng, 1, columns), none;
  NadamSchedule schedule;
  const NadamStep step{{}, schedule.next({}), 0.01};
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  const auto layer = [&](const Pieces& pieces) {
    Matrix<S> y(samples, columns), with_bias(samples, columns), dx(samples, rows), arrays = start;
    const Matrix<S> weight = Eigen::Map<const Matrix<S>>(arrays.data(), rows, columns);
    dense_forward<S>(x, weight, none, y, pieces);
    dense_forward<S>(x, weight, bias, with_bias, pieces);
    Workspace work;
    const OuterProduct<S> gradient{
        {x.data(), size(rows)}, {dy.data(), size(columns)}, size(samples), size(rows),
        size(columns),          {dx.data(), size(rows)},
    };
    nadam_update(step, NadamArrays<S>{&arrays(0, 0), &arrays(1, 0), &arrays(2, 0)}, gradient, work, pieces);
    return std::vector<Matrix<S>>{y, with_bias, dx, arrays};
  };
  const auto alone = layer({});
  for (const int threads : {2, 3, 8}) {
    for (int i = 0; i < 3; ++i) {
      const Context context = idle_context(threads);
      const auto together = layer({&context});
      for (std::size_t m = 0; m < alone.size(); ++m) EXPECT_EQ(together[m], alone[m]) << threads << " " << m;
    }
  }
}

TEST(Share, LayersHaveTheSameBits) {
  for (const auto& [samples, rows, columns] :
       {std::tuple<Index, Index, Index>{32, 410, 301}, {100, 200, 333}, {128, 97, 500}, {8, 700, 601}}) {
    expect_layer_is_the_same_when_shared<float>(samples, rows, columns);
    expect_layer_is_the_same_when_shared<double>(samples, rows, columns);
  }
}

}  // namespace
}  // namespace tocca
