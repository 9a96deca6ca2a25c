/// Linear CCA of 200 + 200 columns against the matrix products of this machine, measured in the same run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tocca/core/context.h"

namespace tocca::cli {

/// Appends a row for each number of `samples` (thousands) to `rows`, and a heading with as many lines to `table`. Each
/// is timed for about `seconds`, at least once. What counts as work is the covariance alone, n (d₁ + d₂)² operations;
/// efficiency is that work at the rate of double-precision products on all threads, over the median time of the whole
/// fit: standardisation, covariance, decompositions, canonical correlations.
///
/// Throws Error, before anything is timed, where the fit differs from the textbook's two passes in double precision.
void bench_linear(const Context& context, double seconds, std::span<const Index> samples, nlohmann::ordered_json& rows,
                  std::vector<std::vector<std::string>>& table);

}  // namespace tocca::cli
