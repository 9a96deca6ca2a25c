/// Who holds claims in a trial store, and whether they still live.
#pragma once

#include <cstdint>
#include <string>

namespace tocca::detail {

/// "host/process/random digits", for one store object.
std::string new_owner();

/// Seconds since 1970, which processes compare their heartbeats by.
std::int64_t unix_time();

/// Whether an owner was not heard of for a minute, or was a process of this machine that is no more.
bool is_gone(const std::string& owner, std::int64_t heartbeat);

}  // namespace tocca::detail
