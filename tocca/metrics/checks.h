/// Checks of what callers hand in, shared by the figures of merit.
#pragma once

#include <cstddef>
#include <string_view>

namespace tocca::detail {

/// Throws InputError unless there is one of `what` ("predictions") for each of `per` ("true label").
void require_one_for_each(std::string_view where, std::string_view what, std::size_t got, std::string_view per,
                          std::size_t need);

/// Throws InputError if `value`, the member of `what` ("risk") that belongs to a sample which counts, is NaN.
void require_number(std::string_view where, std::string_view what, std::size_t sample, double value);

/// Throws InputError unless `value` is 1, 0, or −1 for missing.
void require_flag(std::string_view where, std::string_view what, std::size_t sample, int value);

}  // namespace tocca::detail
