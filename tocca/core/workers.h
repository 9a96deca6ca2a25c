/// A few threads kept alive between parallel sections, so that a training step does not pay for starting them.
#pragma once

#include <memory>

#include "tocca/core/function_ref.h"
#include "tocca/core/matrix.h"

namespace tocca {

class Workers {
 public:
  /// `threads` counts the calling thread, which works too. Throws InputError unless 1 ≤ threads ≤ 1024, and Error if
  /// the system does not give so many.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls task(0) ... task(count − 1), each once, in any thread and order; returns when all have returned. The
  /// exception of the lowest-numbered failing task is rethrown; where all run in the calling thread, those behind it
  /// are not called. May be called again from within a task: threads that have nothing to do then help with the inner
  /// tasks. Calls from within those run in their task's thread.
  void run(Index count, FunctionRef<void(Index)> task);
  [[nodiscard]] int threads() const;
  /// How many threads have nothing to do at the moment and would help with a call made from here: a hint for how finely
  /// to cut.
  [[nodiscard]] int idle() const;
  /// The number of the calling thread among these, from 0 to threads() − 1: no two threads that work on the tasks of
  /// one call have the same.
  [[nodiscard]] int thread() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tocca
