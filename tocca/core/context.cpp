#include "tocca/core/context.h"

#include <thread>

namespace tocca {

void Context::parallel(Index count, const std::function<void(Index)>& task) const {
  if (workers) {
    workers->run(count, task);
  } else {
    for (Index i = 0; i < count; ++i) task(i);
  }
}

Context make_context(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  Context context;
  context.workers = std::make_shared<Workers>(threads);
  return context;
}

}  // namespace tocca
