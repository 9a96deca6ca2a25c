#include "tocca/core/workers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/huge_pages.h"

namespace tocca {
namespace {

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // as long as x86's pause, where its own `yield` does nothing
#endif
}

// How long a thread has found nothing to do.
class Idleness {
 public:
  enum State { short_time, long_time, too_long };

  // Called with every look around.
  State state() {
    if (++turns_ % 64 != 0) return state_;
    const auto passed = std::chrono::steady_clock::now() - since_;
    state_ = passed < std::chrono::microseconds(100) ? short_time
             : passed < std::chrono::milliseconds(3) ? long_time
                                                     : too_long;
    return state_;
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  unsigned turns_ = 0;
  State state_ = short_time;
};

// Tasks that are still to be taken, from `next` to before `end`, in one word that threads change as a whole.
class alignas(kCacheLine) Queue {
 public:
  void fill(std::uint32_t next, std::uint32_t end) { word_.store(pack(next, end), std::memory_order_release); }

  // The next task, or −1.
  Index take() {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      const auto next = static_cast<std::uint32_t>(word), end = static_cast<std::uint32_t>(word >> 32);
      if (next >= end) return -1;
      if (word_.compare_exchange_weak(word, pack(next + 1, end), std::memory_order_acq_rel)) return next;
    }
  }

 private:
  static std::uint64_t pack(std::uint64_t next, std::uint64_t end) { return next | end << 32; }
  std::atomic<std::uint64_t> word_{0};
};

// The tasks of one call of run(). They lie in several queues, so that every thread works through neighbours in their
// order; one that has come to the end of its queue goes on with the others.
//
// The owner fills the queues when all else is set. A visitor enters before it takes a task, and the owner goes on when
// it has seen all queues empty and then no visitor: whoever took a task had entered before. A visitor that comes late
// finds nothing, or tasks of the owner's next call.
class alignas(kCacheLine) Section {
 public:
  void open(std::uint32_t count, std::size_t threads, const FunctionRef<void(Index)>& task) {
    task_ = &task;
    error_ = nullptr;
    left_.store(count);
    const auto used = static_cast<std::uint32_t>(std::min({std::size_t{count}, threads, kQueues}));
    const auto first = [&](std::uint64_t queue) { return static_cast<std::uint32_t>(queue * count / used); };
    for (std::uint32_t q = 0; q < used; ++q) queues_[q].fill(first(q), first(q + 1));
  }

  [[nodiscard]] bool has_tasks() const { return left_.load(std::memory_order_acquire) > 0; }
  [[nodiscard]] bool has_visitors() const { return visitors_.load() > 0; }
  void enter() { visitors_.fetch_add(1); }
  /// Whether nobody is left.
  bool leave() { return visitors_.fetch_sub(1) == 1; }

  /// Calls tasks until all are taken, beginning with the queue of that thread.
  void work(std::size_t thread) {
    for (std::size_t q = 0; q < kQueues; ++q) {
      Queue& queue = queues_[(thread + q) % kQueues];
      for (Index i = queue.take(); i >= 0; i = queue.take()) {
        left_.fetch_sub(1);
        call(i);
      }
    }
  }

  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static constexpr std::size_t kQueues = 16;

  void call(Index i) {
    try {
      (*task_)(i);
    } catch (...) {
      const std::scoped_lock lock(error_mutex_);
      if (!error_ || i < error_task_) {
        error_ = std::current_exception();
        error_task_ = i;
      }
    }
  }

  std::atomic<std::uint32_t> left_{0};  // not taken yet
  std::atomic<std::uint32_t> visitors_{0};
  const FunctionRef<void(Index)>* task_ = nullptr;
  std::mutex error_mutex_;
  Index error_task_ = 0;
  std::exception_ptr error_;
  std::array<Queue, kQueues> queues_;
};

// Where a thread sleeps, and by whom it may be woken.
class alignas(kCacheLine) Bed {
 public:
  enum Sleeper : std::uint32_t { nobody, helper, no_helper };

  // While `condition` holds, which is looked at once more: whoever changes it afterwards finds the sleeper. Comes back
  // when woken, or at once.
  template <class Condition>
  void sleep_while(Condition condition, Sleeper who) {
    sleeper_.store(who);
    if (condition()) sleeper_.wait(who);
    sleeper_.store(nobody);
  }

  // Whether such a one slept.
  bool wake(Sleeper who) {
    std::uint32_t there = who;
    if (!sleeper_.compare_exchange_strong(there, nobody)) return false;
    sleeper_.notify_one();
    return true;
  }

 private:
  std::atomic<std::uint32_t> sleeper_{nobody};
};

// Where a thread is: outside of all tasks (0), in a task (1), in a task of a task (2).
struct Place {
  const void* workers = nullptr;
  std::size_t thread = 0;
  int level = 0;
};
thread_local Place place;

// Puts the calling thread elsewhere for as long as this lives.
class Visit {
 public:
  explicit Visit(const Place& there) : before_(std::exchange(place, there)) {}
  ~Visit() { place = before_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  Place before_;
};

}  // namespace

struct Workers::State {
  explicit State(int count) : inner(static_cast<std::size_t>(count)), beds(inner.size()) {
    helpers.reserve(inner.size());
    try {
      for (std::size_t i = 1; i < inner.size(); ++i) helpers.emplace_back([this, i] { helper(i); });
    } catch (const std::system_error& error) {
      const std::string started = std::to_string(helpers.size() + 1);
      end();
      throw Error("workers", "threads: the system gives " + started + " (" + error.what() + "), need " +
                                 std::to_string(count) + "; ask for fewer");
    } catch (...) {
      end();
      throw;
    }
  }
  ~State() { end(); }

  void end() {
    stop = true;
    announce(static_cast<int>(beds.size()));
    for (auto& thread : helpers) thread.join();
  }

  // Tells of tasks for so many helpers. Sleepers are woken only where too few are awake: with more threads than tasks
  // the others sleep on.
  void announce(int tasks) {
    pulse.fetch_add(1);
    int wanted = tasks - (waiting.load() - sleeping_helpers.load());
    for (std::size_t i = 0; wanted > 0 && i < beds.size(); ++i) {
      if (beds[i].wake(Bed::helper)) --wanted;
    }
  }

  void work(Section& section, int level) {
    const Visit visit({this, place.thread, level});
    section.work(place.thread);
  }

  // By a thread that waits; returns whether there was something to do. `owner` is the section's.
  bool help(Section& section, std::size_t owner, int level) {
    if (!section.has_tasks()) return false;
    waiting.fetch_sub(1);
    section.enter();
    work(section, level);
    if (section.leave()) {
      beds[owner].wake(Bed::helper);
      beds[owner].wake(Bed::no_helper);
    }
    waiting.fetch_add(1);
    return true;
  }

  enum class Helps { nowhere, within_tasks, everywhere };

  bool look_for_tasks(Helps where) {
    if (where == Helps::nowhere) return false;
    bool any = where == Helps::everywhere && help(outer, 0, 1);
    for (std::size_t i = 0; i < inner.size(); ++i) any = help(inner[i], i, 2) || any;
    return any;
  }

  // Until `done`: spinning, since the next section of a training step usually comes within microseconds, then giving
  // way to others, and asleep only after some milliseconds without tasks: to wake a thread takes longer than a layer of
  // a small network. Tasks are looked for after every pulse.
  template <class Done>
  void wait(Helps where, Done done) {
    const bool helps = where != Helps::nowhere;
    if (helps) waiting.fetch_add(1);
    Bed& bed = beds[place.thread];
    Idleness idleness;
    while (!done()) {
      const std::uint32_t seen = pulse.load();
      if (look_for_tasks(where)) idleness = {};
      const auto nothing_new = [&] { return !done() && pulse.load() == seen; };
      while (nothing_new()) {
        const auto state = idleness.state();
        if (state == Idleness::short_time) {
          pause_processor();
        } else if (state == Idleness::long_time) {
          std::this_thread::yield();
        } else {
          if (helps) sleeping_helpers.fetch_add(1);
          bed.sleep_while(nothing_new, helps ? Bed::helper : Bed::no_helper);
          if (helps) sleeping_helpers.fetch_sub(1);
          idleness = {};
        }
      }
    }
    if (helps) waiting.fetch_sub(1);
  }

  void helper(std::size_t number) {
    place = {this, number, 0};
    wait(Helps::everywhere, [this] { return stop.load(); });
  }

  // With the calling thread as its owner.
  void run(Section& section, int level, std::uint32_t count, const FunctionRef<void(Index)>& task) {
    section.open(count, inner.size(), task);
    announce(static_cast<int>(std::min<std::size_t>(count - 1, helpers.size())));
    work(section, level);
    wait(level == 1 ? Helps::within_tasks : Helps::nowhere, [&] { return !section.has_visitors(); });
    section.rethrow();
  }

  // Whether calls from the calling thread are for other threads as well.
  [[nodiscard]] bool takes_calls() const {
    return !helpers.empty() && (place.level == 0 || (place.level == 1 && place.workers == this));
  }

  std::mutex one_at_a_time;
  Section outer;                         // of a thread that is in no task, which has number 0 then
  std::vector<Section> inner;            // of the thread with that number, from within a task
  std::vector<Bed> beds;                 // of the thread with that number
  std::atomic<std::uint32_t> pulse{0};   // changes when there are new tasks, and at the end
  std::atomic<int> waiting{0};           // threads that would help
  std::atomic<int> sleeping_helpers{0};  // of these
  std::atomic<bool> stop{false};
  std::vector<std::thread> helpers;
};

Workers::Workers(int threads) {
  if (threads < 1 || threads > 1024) {
    throw InputError("workers", "threads: got " + std::to_string(threads) + ", need 1 to 1024");
  }
  state_ = std::make_unique<State>(threads);
}

Workers::~Workers() = default;

int Workers::threads() const { return static_cast<int>(state_->inner.size()); }

int Workers::idle() const {
  return state_->takes_calls() ? std::max(0, state_->waiting.load(std::memory_order_relaxed)) : 0;
}

int Workers::thread() const { return place.workers == state_.get() ? static_cast<int>(place.thread) : 0; }

void Workers::run(Index count, FunctionRef<void(Index)> task) {
  State& s = *state_;
  if (count <= 1 || !s.takes_calls()) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  constexpr Index kMost = std::numeric_limits<std::uint32_t>::max();
  if (count > kMost) {
    throw InputError("workers", "tasks: got " + std::to_string(count) + ", need at most " + std::to_string(kMost));
  }
  const auto tasks = static_cast<std::uint32_t>(count);
  if (place.level == 1) return s.run(s.inner[place.thread], 2, tasks, task);
  const std::scoped_lock lock(s.one_at_a_time);
  const Visit visit({&s, 0, 0});
  s.run(s.outer, 1, tasks, task);
}

}  // namespace tocca
