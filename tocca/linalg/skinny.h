/// Products with few rows on the left, as a layer has on a mini-batch, and small ones. A blocked product spends much of
/// its time there on packing the large matrix; these read it where it lies, in that order. They allocate nothing, which
/// OpenBLAS does for small products on some processors.
#pragma once

#include "tocca/linalg/product.h"

namespace tocca::detail {

/// A (m × k) and B (k × n).
void skinny_a_b(const Product<float>& product);
void skinny_a_b(const Product<double>& product);
/// A (m × k) and Bᵀ for B (n × k).
void skinny_a_bt(const Product<float>& product);
void skinny_a_bt(const Product<double>& product);
/// Aᵀ for A (k × m) and B (k × n). Of use where the product is small.
void skinny_at_b(const Product<float>& product);
void skinny_at_b(const Product<double>& product);
/// The same with a square result, of which the numbers below the diagonal and on it are needed; some of those above are
/// made as well.
void skinny_lower_at_b(const Product<float>& product);
void skinny_lower_at_b(const Product<double>& product);

}  // namespace tocca::detail
