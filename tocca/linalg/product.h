/// A matrix product as the kernels see it.
#pragma once

#include <cstddef>

#include "tocca/core/rows.h"

namespace tocca::detail {

/// C ← α op(A) op(B), or with `add` C + that; C is m × n, made of sums of length k.
template <class S>
struct Product {
  std::size_t m, k, n;
  Rows<const S> a, b;
  Rows<S> c;
  S alpha;
  bool add;
  /// Where this is some columns of a larger product: how many are before them, and how many there are. A B gives them
  /// the bits that they have in the whole.
  std::size_t columns_before, all_columns;
};

}  // namespace tocca::detail
