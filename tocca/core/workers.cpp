#include "tocca/core/workers.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tocca/core/error.h"

namespace tocca {
namespace {

thread_local bool inside_a_task = false;

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until `word` differs from `old`: first spinning, since the next section of a training step usually comes
// within microseconds, then asleep.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  constexpr int kSpins = 2000;
  for (int i = 0; i < kSpins; ++i) {
    const std::uint32_t now = word.load(std::memory_order_acquire);
    if (now != old) return now;
    pause_processor();
  }
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

}  // namespace

struct Workers::State {
  std::vector<std::thread> threads;
  std::mutex one_section_at_a_time;
  std::atomic<std::uint32_t> section{0};
  std::atomic<std::uint32_t> finished{0};  // helpers done with the current section
  std::atomic<Index> next{0};
  Index count = 0;
  const FunctionRef<void(Index)>* task = nullptr;
  bool stop = false;

  std::mutex error_mutex;
  Index error_task = 0;
  std::exception_ptr error;

  void work() {
    inside_a_task = true;
    for (Index i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        (*task)(i);
      } catch (...) {
        const std::scoped_lock lock(error_mutex);
        if (!error || i < error_task) {
          error = std::current_exception();
          error_task = i;
        }
      }
    }
    inside_a_task = false;
  }

  void helper() {
    std::uint32_t seen = 0;
    for (;;) {
      seen = wait_for_change(section, seen);
      if (stop) return;
      work();
      finished.fetch_add(1, std::memory_order_release);
      finished.notify_one();
    }
  }
};

Workers::Workers(int threads) : state_(std::make_unique<State>()) {
  if (threads < 1 || threads > 1024) {
    throw InputError("workers", "threads: got " + std::to_string(threads) + ", need 1 to 1024");
  }
  for (int i = 1; i < threads; ++i) state_->threads.emplace_back([state = state_.get()] { state->helper(); });
}

Workers::~Workers() {
  state_->stop = true;
  state_->section.fetch_add(1, std::memory_order_release);
  state_->section.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

int Workers::threads() const { return static_cast<int>(state_->threads.size()) + 1; }

void Workers::run(Index count, FunctionRef<void(Index)> task) {
  if (inside_a_task || state_->threads.empty() || count <= 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  State& s = *state_;
  const std::scoped_lock lock(s.one_section_at_a_time);
  s.task = &task;
  s.count = count;
  s.next.store(0);
  s.finished.store(0);
  s.error = nullptr;
  s.section.fetch_add(1, std::memory_order_release);
  s.section.notify_all();
  s.work();
  const auto helpers = static_cast<std::uint32_t>(s.threads.size());
  for (std::uint32_t done = s.finished.load(std::memory_order_acquire); done != helpers;) {
    done = wait_for_change(s.finished, done);
  }
  if (s.error) std::rethrow_exception(s.error);
}

}  // namespace tocca
