/// Products with few rows on the left, as a layer has on a mini-batch, and small ones. A blocked product spends much of
/// its time there on packing the large matrix; these read it where it lies, in that order. They allocate nothing, which
/// OpenBLAS does for small products on some processors.
#pragma once

#include <cstddef>

#include "tocca/linalg/product.h"

namespace tocca::detail {

/// Up to this many rows they were measured to be faster than OpenBLAS (docs/performance.md).
inline constexpr std::size_t kSkinnyRows = 128;

template <class S>
bool is_small(const Product<S>& product) {
  return product.m * product.k * product.n <= (std::size_t{1} << 20);
}
template <class S>
bool has_few_rows(const Product<S>& product) {
  return product.m <= kSkinnyRows || is_small(product);
}

/// A (m × k) and B (k × n).
void skinny_a_b(const Product<float>& product);
void skinny_a_b(const Product<double>& product);
/// A (m × k) and Bᵀ for B (n × k).
void skinny_a_bt(const Product<float>& product);
void skinny_a_bt(const Product<double>& product);
/// Aᵀ for A (k × m) and B (k × n). Of use where the product is small.
void skinny_at_b(const Product<float>& product);
void skinny_at_b(const Product<double>& product);

}  // namespace tocca::detail
