/// What a computation needs from its surroundings, passed explicitly: threads, a log, a way to stop it, and a
/// place to report progress. There is no global state in the library.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tocca/core/function_ref.h"
#include "tocca/core/workers.h"

namespace tocca {

enum class LogLevel { info, warning };

/// Where a long computation stands. `values` are named numbers worth showing (loss terms, accuracies).
struct Progress {
  std::string_view task;
  double done = 0;   ///< units finished (epochs, fits)
  double total = 0;  ///< units in all
  std::vector<std::pair<std::string, double>> values;
};

struct Context {
  /// Runs tasks in parallel; results never depend on how many threads it has. Null means: in the calling thread.
  std::shared_ptr<Workers> workers;
  std::function<void(LogLevel, std::string_view)> log;
  std::function<void(const Progress&)> progress;
  /// Set to true from anywhere (a signal handler too) to ask the computation to stop after its current step.
  const std::atomic<bool>* cancel = nullptr;
  /// A file in which a training keeps its state, to go on from where it stopped; empty: none.
  std::string checkpoint = {};
  /// Trainings stop after this epoch as if interrupted there, with results as of then and their state in `checkpoint`,
  /// to be taken up again with a later one. 0: they run to their end.
  int pause_after = 0;

  [[nodiscard]] bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
  void warn(std::string_view message) const {
    if (log) log(LogLevel::warning, message);
  }
  void info(std::string_view message) const {
    if (log) log(LogLevel::info, message);
  }
  void report(const Progress& state) const {
    if (progress) progress(state);
  }
  /// Calls task(0) ... task(count − 1), in parallel where there are workers; returns when all are done. An
  /// exception thrown by a task is rethrown here.
  void parallel(Index count, FunctionRef<void(Index)> task) const;
  /// The same over n rows in fixed blocks, denormal numbers treated as zero: calls task(first, rows).
  void parallel_rows(Index n, FunctionRef<void(Index, Index)> task) const;
  [[nodiscard]] int threads() const { return workers ? workers->threads() : 1; }
};

/// A context with its own `threads` workers (0: one per processor).
Context make_context(int threads = 0);

}  // namespace tocca
