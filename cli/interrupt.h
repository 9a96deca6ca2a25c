/// Ctrl-C as a request to stop.
#pragma once

#include <atomic>
#include <csignal>

namespace tocca::cli {

/// While it lives, the first Ctrl-C sets the flag and the second one kills the process, as it would without.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  [[nodiscard]] static const std::atomic<bool>* flag();

 private:
  struct sigaction before_ {};
};

}  // namespace tocca::cli
