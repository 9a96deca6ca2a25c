/// Threads for tests of shared work.
#pragma once

#include <thread>

#include "tocca/core/context.h"

namespace tocca::testing {

/// A context with every other thread idle, so that what is worth it is shared.
inline Context idle_context(int threads) {
  Context context = make_context(threads);
  while (context.workers->idle() < threads - 1) std::this_thread::yield();
  return context;
}

}  // namespace tocca::testing
