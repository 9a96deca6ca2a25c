/// Products in single precision by the processor's matrix unit (linalg/split_inl.h): where detail::matrix_unit() is not
/// kNone. The bits of a number of C do not depend on which other rows and columns are computed with it. Infinite
/// numbers give NaN (linalg/split_inl.h). They take up to 160 KB of stack.
#pragma once

#include "tocca/core/function_ref.h"
#include "tocca/linalg/product.h"

namespace tocca::detail {

/// Numbers that they need a place for, at a boundary of cache lines.
std::size_t split_room();

/// Called for columns of C, `count` from `first` on, once they are there: kColumnsTogether, in the end perhaps fewer.
using ColumnsThere = FunctionRef<void(std::size_t first, std::size_t count)>;

/// A (m × k) and B (k × n), or Bᵀ for B (n × k); A and C lie in panels. `packed` has split_room() numbers.
void split_a_b(const PanelProduct<float>& product, ColumnsThere done);
void split_a_bt(const PanelProduct<float>& product, ColumnsThere done);
/// Aᵀ for A (k × m) and B (k × n), both in panels.
void split_at_b(const InnerPanelProduct<float>& product);

/// Sums of more terms lose digits where every term is added to what there is; up to here they are more exact than those
/// of vectors. Longer ones are cut.
inline constexpr std::size_t kLongestSplitSum = 1024;
/// Whether products of so many samples with weights (inputs × outputs), forward and back, are faster by the unit: if
/// there is one, and they are not small (docs/performance.md).
bool split_pays(std::size_t samples, std::size_t inputs, std::size_t outputs);
/// Whether A (m × k) and B (k × n) row by row should be multiplied by split_a_b(): where that pays, without a factor.
/// The same for all columns of a product, not for some of its rows alone.
bool split_is_faster(const Product<float>& product);
void split_a_b(const Product<float>& product);

}  // namespace tocca::detail
