#include "tocca/metrics/checks.h"

#include <fmt/format.h>

#include <cmath>

#include "tocca/core/error.h"

namespace tocca::detail {

void require_one_for_each(std::string_view where, std::string_view what, std::size_t got, std::string_view per,
                          std::size_t need) {
  if (got != need)
    throw InputError(where, fmt::format("number of {}: got {}, need {}; pass one for each {}", what, got, need, per));
}

void require_number(std::string_view where, std::string_view what, std::size_t sample, double value) {
  if (std::isnan(value))
    throw InputError(where, fmt::format("{} of sample {} (counted from 0): got nan, need a number; check the training, "
                                        "or mark the sample as missing",
                                        what, sample));
}

void require_flag(std::string_view where, std::string_view what, std::size_t sample, int value) {
  if (value < -1 || value > 1)
    throw InputError(where, fmt::format("{} of sample {} (counted from 0): got {}, need 1 (yes), 0 (no) or -1 "
                                        "(missing); recode it",
                                        what, sample, value));
}

}  // namespace tocca::detail
