/// What benchmarks have in common: a clock, a median, and the rate of this machine's own matrix products.
#pragma once

#include <chrono>
#include <vector>

#include "tocca/core/context.h"

namespace tocca::cli {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start);

/// Of at least one time.
double median(std::vector<double> times);

/// Rate of OpenBLAS in large products of S on all threads at once, in GFLOP/s: the best of several rounds.
template <class S>
double measure_peak(const Context& context);

}  // namespace tocca::cli
