/// Products with few rows on the left, as a layer has on a mini-batch, and small ones. A blocked product spends much of
/// its time there on packing the large matrix; these read it where it lies, in that order. They allocate nothing, which
/// OpenBLAS does for small products on some processors.
#pragma once

#include <cstddef>

#include "tocca/core/rows.h"

namespace tocca::detail {

/// Up to this many rows they were measured to be faster than OpenBLAS (docs/performance.md).
inline constexpr std::size_t kSkinnyRows = 128;

/// C ← α op(A) op(B), or with `add` C + that; C is m × n, made of sums of length k.
template <class S>
struct SkinnyProduct {
  std::size_t m, k, n;
  Rows<const S> a, b;
  Rows<S> c;
  S alpha;
  bool add;
  /// Where this is some columns of a larger product: how many are before them, and how many there are. A B gives them
  /// the bits that they have in the whole.
  std::size_t before, whole;

  [[nodiscard]] bool has_few_rows() const { return m <= kSkinnyRows || is_small(); }
  [[nodiscard]] bool is_small() const { return m * k * n <= (std::size_t{1} << 20); }
};

/// A (m × k) and B (k × n).
void skinny_a_b(const SkinnyProduct<float>& product);
void skinny_a_b(const SkinnyProduct<double>& product);
/// A (m × k) and Bᵀ for B (n × k).
void skinny_a_bt(const SkinnyProduct<float>& product);
void skinny_a_bt(const SkinnyProduct<double>& product);
/// Aᵀ for A (k × m) and B (k × n). Of use where the product is small.
void skinny_at_b(const SkinnyProduct<float>& product);
void skinny_at_b(const SkinnyProduct<double>& product);

}  // namespace tocca::detail
