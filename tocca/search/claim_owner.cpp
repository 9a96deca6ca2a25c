#include "tocca/search/claim_owner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <random>

namespace tocca::detail {
namespace {

constexpr std::int64_t kLifetime = 60;  // seconds

// "host/"
std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return std::string(name.data()) + "/";
}

bool process_is_gone(const std::string& owner) {
  const std::string here = host();
  if (!owner.starts_with(here)) return false;
  pid_t process = 0;
  std::from_chars(owner.data() + here.size(), owner.data() + owner.size(), process);
  return process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string new_owner() {
  std::random_device random;
  return fmt::format("{}{}/{:08x}{:08x}", host(), ::getpid(), random(), random());
}

std::int64_t unix_time() { return std::time(nullptr); }

bool is_gone(const std::string& owner, std::int64_t heartbeat) {
  // A heartbeat far ahead is from before the clock was set back.
  return std::abs(unix_time() - heartbeat) > kLifetime || process_is_gone(owner);
}

}  // namespace tocca::detail
