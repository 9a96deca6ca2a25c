#include "tocca/core/context.h"

#include <algorithm>
#include <thread>

#include "tocca/core/denormals.h"

namespace tocca {

void Context::parallel(Index count, FunctionRef<void(Index)> task) const {
  if (workers) {
    workers->run(count, task);
  } else {
    for (Index i = 0; i < count; ++i) task(i);
  }
}

void Context::parallel_rows(Index n, FunctionRef<void(Index, Index)> task) const {
  constexpr Index kBlock = 256;
  parallel((n + kBlock - 1) / kBlock, [&](Index block) {
    const FlushDenormals flush;
    const Index first = block * kBlock;
    task(first, std::min(kBlock, n - first));
  });
}

Context make_context(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  Context context;
  context.workers = std::make_shared<Workers>(threads);
  return context;
}

}  // namespace tocca
