/// Products with few rows on the left, as a layer has on a mini-batch. A blocked product spends much of its time there
/// on packing the large matrix; these read it once, in the order it lies in.
#pragma once

#include "tocca/core/rows.h"

namespace tocca::detail {

/// Up to this many rows (m) they were measured to be faster than OpenBLAS (docs/performance.md). They take any number.
inline constexpr std::size_t kSkinnyRows = 128;
/// Below this many multiplications in a row's product the difference does not matter.
inline constexpr std::size_t kSkinnyWork = 1024;

/// The longest sums that are made in one go.
inline constexpr std::size_t kSkinnyDepth = 256;

/// Numbers of scratch that either product can do with, aligned to 64 bytes.
std::size_t skinny_scratch(std::size_t m, std::size_t k);

/// C ← A B, or with `add` C + A B; shapes (m × k) (k × n) → (m × n).
void skinny_multiply(std::size_t m, std::size_t k, std::size_t n, Rows<const float> a, Rows<const float> b,
                     Rows<float> c, bool add, float* scratch);
void skinny_multiply(std::size_t m, std::size_t k, std::size_t n, Rows<const double> a, Rows<const double> b,
                     Rows<double> c, bool add, double* scratch);
/// C ← A Bᵀ, or with `add` C + A Bᵀ; shapes (m × k) (n × k)ᵀ → (m × n).
void skinny_multiply_a_bt(std::size_t m, std::size_t k, std::size_t n, Rows<const float> a, Rows<const float> b,
                          Rows<float> c, bool add, float* scratch);
void skinny_multiply_a_bt(std::size_t m, std::size_t k, std::size_t n, Rows<const double> a, Rows<const double> b,
                          Rows<double> c, bool add, double* scratch);

}  // namespace tocca::detail
