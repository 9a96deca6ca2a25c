#include "cli/interrupt.h"

namespace tocca::cli {
namespace {

// A signal handler can reach nothing but static storage.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

InterruptScope::InterruptScope() {
  interrupted.store(false);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  // RESETHAND brings the default action back, so that a second Ctrl-C ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

InterruptScope::~InterruptScope() { sigaction(SIGINT, &before_, nullptr); }

const std::atomic<bool>* InterruptScope::flag() { return &interrupted; }

}  // namespace tocca::cli
