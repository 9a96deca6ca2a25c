/// One line on a terminal that says how far a long computation is.
#pragma once

#include <chrono>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

#include "tocca/core/context.h"

namespace tocca::cli {

/// "epoch 12 of 100, 8 s left  task 0.412  val accuracy 0.913", after `seconds` of work, cut to `columns`.
std::string progress_text(const Progress& state, double seconds, std::size_t columns);
/// "8 s", "3 min", "1 h 20 min".
std::string duration_text(double seconds);

/// Messages as whole lines and, where that is a terminal, a progress line below them that is drawn in place at most ten
/// times a second. May be used from several threads.
class ProgressLine {
 public:
  ProgressLine(std::ostream& err, bool quiet);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool draws() const { return draws_; }
  void show(const Progress& state);
  void clear();
  /// Prints a message; the progress line comes back below it.
  void print(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;

  void erase();

  std::ostream& err_;
  bool draws_;
  std::mutex mutex_;
  Clock::time_point start_, drawn_;
  double last_done_ = 0;
  bool running_ = false;  // start_ is the start of the computation at hand
  bool visible_ = false;
};

}  // namespace tocca::cli
