/// How the work on a batch of one view is cut for several threads.
#pragma once

#include <algorithm>

#include "tocca/core/context.h"
#include "tocca/core/denormals.h"

namespace tocca {

/// Large batches are cut into pieces that depend on the batch and the network alone, so that results do not depend on
/// the number of threads. Work that gives the same bits however it is cut is shared with whoever is idle.
struct Pieces {
  const Context* context = nullptr;  ///< null: all in the calling thread
  Index rows = 0;                    ///< of the batch in a piece; 0: it is not cut
  Index columns = 48;                ///< of a matrix as wide as a layer in a piece, and rows of a weight matrix

  [[nodiscard]] bool cut() const { return context != nullptr && rows > 0; }
  [[nodiscard]] int threads() const { return context != nullptr ? context->threads() : 1; }
  /// The number of the calling thread, below threads(); no two that share have the same.
  [[nodiscard]] int thread() const { return context != nullptr && context->workers ? context->workers->thread() : 0; }

  /// Calls task(first, count) for every piece of `piece` of 0 ... n − 1, in parallel.
  void over(Index n, Index piece, FunctionRef<void(Index, Index)> task) const {
    if (!cut() || n <= piece) {
      task(0, n);
      return;
    }
    in_parallel(0, n, piece, task);
  }
  void over_rows(Index n, FunctionRef<void(Index, Index)> task) const { over(n, rows, task); }
  void over_columns(Index n, FunctionRef<void(Index, Index)> task) const { over(n, columns, task); }

  /// The same with pieces of whole `unit`s, some for every thread that is idle. An item takes about `cost`
  /// multiplications; the calling thread looks for idle ones after each stretch, of some 100 microseconds if units are
  /// short enough.
  void share(Index n, Index unit, Index cost, FunctionRef<void(Index, Index)> task) const {
    constexpr Index kWorth = 3'000'000;     // less costs more to hand over than to do (docs/performance.md)
    constexpr Index kStretch = 10'000'000;  // multiplications
    constexpr Index kEach = 8;              // pieces a thread, for all to end together
    const FlushDenormals flush;             // whoever does a piece
    const Workers* const workers = context != nullptr ? context->workers.get() : nullptr;
    if (workers == nullptr) return task(0, n);
    cost = std::max<Index>(cost, 1);
    const Index stretch = std::max<Index>(kStretch / cost / unit, 1) * unit;
    for (Index first = 0; first < n;) {
      const Index left = n - first, idle = workers->idle();
      if (idle > 0 && left >= 2 * unit && left >= kWorth / cost) {
        const Index units = (left + unit - 1) / unit, most = kEach * (idle + 1);
        return in_parallel(first, n, (units + most - 1) / most * unit, task);
      }
      // A rest is not worth a stretch of its own.
      const Index count = left < 2 * stretch ? left : stretch;
      task(first, count);
      first += count;
    }
  }

 private:
  void in_parallel(Index begin, Index end, Index piece, FunctionRef<void(Index, Index)> task) const {
    context->parallel((end - begin + piece - 1) / piece, [&](Index p) {
      const FlushDenormals flush;
      const Index first = begin + p * piece;
      task(first, std::min(piece, end - first));
    });
  }
};

}  // namespace tocca
