#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <iostream>

namespace tocca::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenDraws{100};

std::size_t terminal_columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 100) return fmt::format("{} s", whole);
  const long minutes = (whole + 30) / 60;
  return minutes < 60 ? fmt::format("{} min", minutes) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string progress_text(const Progress& state, double seconds, std::size_t columns) {
  const bool epochs = state.task == "train";
  const double shown = epochs ? std::ceil(state.done) : std::floor(state.done);
  std::string text = fmt::format("{} {:.0f} of {:.0f}", epochs ? "epoch" : state.task, shown, state.total);
  if (state.done > 0 && seconds > 0) {
    text += fmt::format(", {} left", duration_text(seconds * (state.total - state.done) / state.done));
  }
  for (const auto& [name, value] : state.values) text += fmt::format("  {} {:.4g}", name, value);
  return text.substr(0, columns);  // names and numbers are ASCII
}

ProgressLine::ProgressLine(std::ostream& err, bool quiet)
    : err_(err), draws_(!quiet && &err == &std::cerr && isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const Progress& state) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (!running_ || state.done < last_done_) {
    start_ = now;
    running_ = true;
  }
  last_done_ = state.done;
  if (now - drawn_ < kBetweenDraws) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // One column stays free: a full line would make some terminals wrap.
  err_ << '\r' << progress_text(state, seconds, terminal_columns() - 1) << "\033[K" << std::flush;
  visible_ = true;
}

void ProgressLine::erase() {
  if (visible_) err_ << "\r\033[K" << std::flush;
  visible_ = false;
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  erase();
  running_ = false;
}

void ProgressLine::print(std::string_view line) {
  const std::lock_guard lock(mutex_);
  erase();
  err_ << line << std::flush;
}

}  // namespace tocca::cli
