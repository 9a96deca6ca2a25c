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

/// Whether A (m × k) and B (k × n) row by row are faster multiplied by split_a_b() than otherwise: without a factor, if
/// there is a unit and they are not small. The same for all columns of a product, not for some of its rows alone.
bool split_is_faster(const Product<float>& product);
void split_a_b(const Product<float>& product);

}  // namespace tocca::detail
