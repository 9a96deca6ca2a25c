/// Products with few rows on the left, as a layer has on a mini-batch, and small ones. A blocked product spends much of
/// its time there on packing the large matrix; these read it where it lies, in that order. They allocate nothing, which
/// OpenBLAS does for small products on some processors.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tocca/core/rows.h"

namespace tocca::detail {

/// Up to this many rows they were measured to be faster than OpenBLAS (docs/performance.md).
inline constexpr std::size_t kSkinnyRows = 128;
/// The longest sums that are made in one go: of A B and Aᵀ B, and of A Bᵀ.
inline constexpr std::size_t kSkinnyDepth = 256, kSkinnyLongDepth = 1024;

/// C ← α op(A) op(B), or with `add` C + that; C is m × n, made of sums of length k.
template <class S>
struct SkinnyProduct {
  std::size_t m, k, n;
  Rows<const S> a, b;
  Rows<S> c;
  S alpha;
  bool add;

  [[nodiscard]] bool has_few_rows() const { return m <= kSkinnyRows || is_small(); }
  [[nodiscard]] bool is_small() const { return m * k * n <= (std::size_t{1} << 20); }
  /// Numbers of scratch that each of the products below can do with, aligned to 64 bytes: for a panel of three vectors
  /// or for some rows of A, with one vector more.
  [[nodiscard]] std::size_t scratch() const {
    return std::max(3 * kVector * kSkinnyDepth, (std::min(m, kSkinnyRows) + kVector) * std::min(k, kSkinnyLongDepth));
  }

  static constexpr std::size_t kVector = 64 / sizeof(S);  ///< numbers in the longest vector
};

/// A (m × k) and B (k × n).
void skinny_a_b(const SkinnyProduct<float>& product, float* scratch);
void skinny_a_b(const SkinnyProduct<double>& product, double* scratch);
/// A (m × k) and Bᵀ for B (n × k).
void skinny_a_bt(const SkinnyProduct<float>& product, float* scratch);
void skinny_a_bt(const SkinnyProduct<double>& product, double* scratch);
/// Aᵀ for A (k × m) and B (k × n). Of use where the product is small.
void skinny_at_b(const SkinnyProduct<float>& product, float* scratch);
void skinny_at_b(const SkinnyProduct<double>& product, double* scratch);

}  // namespace tocca::detail
