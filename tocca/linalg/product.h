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

/// A matrix in panels of columns (core/panels.h).
template <class S>
struct PanelRows {
  static constexpr std::size_t kWidth = 192 / sizeof(S);  ///< numbers from one row of a panel to the next

  S* data;
  std::size_t jump;  ///< numbers from one panel to the next

  [[nodiscard]] S* at(std::size_t row, std::size_t column = 0) const {
    return data + column / kWidth * jump + column % kWidth + row * kWidth;
  }
};

/// B is packed for so many columns of A at a time, which are whole panels, and two panels of C.
inline constexpr std::size_t kPackedDepth = 144;
template <class S>
inline constexpr std::size_t kPackedNumbers = kPackedDepth * 2 * PanelRows<S>::kWidth;

/// Columns of a product in panels that are made for all rows before the next ones, so that who is waiting for them
/// finds them in a cache: whole panels.
inline constexpr std::size_t kColumnsTogether = 96;

/// C ← A op(B) where A and C lie in panels.
template <class S>
struct PanelProduct {
  std::size_t m, k, n;
  PanelRows<const S> a;
  Rows<const S> b;
  PanelRows<S> c;
  S* packed;  ///< place for what is packed: kPackedNumbers, for the matrix unit split_room() (linalg/split_products.h)
};

/// C ← Aᵀ B where A and B lie in panels.
template <class S>
struct InnerPanelProduct {
  std::size_t m, k, n;
  PanelRows<const S> a, b;
  Rows<S> c;
  S* packed;  ///< as above
};

}  // namespace tocca::detail
