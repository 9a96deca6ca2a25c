/// How the work on a large batch of one view is cut for several threads.
#pragma once

#include <algorithm>

#include "tocca/core/context.h"
#include "tocca/core/denormals.h"

namespace tocca {

/// Pieces depend on the batch and the network alone, so that results do not depend on the number of threads.
struct Pieces {
  const Context* context = nullptr;  ///< null: nothing is cut
  Index rows = 0;                    ///< of the batch in a piece
  Index columns = 128;               ///< of a matrix as wide as a layer in a piece, and rows of a weight matrix

  [[nodiscard]] bool cut() const { return context != nullptr; }

  /// Calls task(first, count) for every piece of `piece` of 0 ... n − 1, in parallel.
  void over(Index n, Index piece, FunctionRef<void(Index, Index)> task) const {
    if (!cut() || n <= piece) {
      task(0, n);
      return;
    }
    context->parallel((n + piece - 1) / piece, [&](Index p) {
      const FlushDenormals flush;
      task(p * piece, std::min(piece, n - p * piece));
    });
  }
  void over_rows(Index n, FunctionRef<void(Index, Index)> task) const { over(n, rows, task); }
  void over_columns(Index n, FunctionRef<void(Index, Index)> task) const { over(n, columns, task); }
};

}  // namespace tocca
