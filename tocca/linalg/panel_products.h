/// Products of matrices in panels (core/panels.h) by own kernels, or in single precision by the processor's matrix unit
/// (linalg/matrix_unit.h), single-threaded. Dimensions may be zero. What lies behind C's last columns in their panel
/// has no meaning afterwards. By the unit infinite numbers and those from 3.396·10³⁸ on give NaN. All throw InputError
/// where shapes do not agree, or a matrix that has to lie in panels does not.
#pragma once

#include "tocca/core/function_ref.h"
#include "tocca/core/panels.h"
#include "tocca/linalg/product.h"

namespace tocca {

/// Called for columns first ... first + count − 1 of a product once they are there, and perhaps still in cache. All
/// columns are handed over, each once, perhaps from several threads at a time.
using ColumnsDone = FunctionRef<void(Index first, Index count)>;
/// Nobody waits for them.
inline constexpr auto kNothing = [](Index, Index) {};

/// Numbers that each of them needs a place for, at a boundary of cache lines.
template <class S>
Index packed_numbers();

/// Columns of A that a call of multiply_panels_at_b() should have at least where it makes a part of C: whole panels.
/// The matrix unit prepares B in every call.
template <class S>
Index left_columns_worth_a_call();

/// C ← A B, shapes (m × k) (k × n) → (m × n). A and C in panels.
template <class S>
void multiply_panels(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed, ColumnsDone done = kNothing);
/// C ← A Bᵀ, shapes (m × k) (n × k)ᵀ → (m × n). A and C in panels.
template <class S>
void multiply_panels_a_bt(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed,
                          ColumnsDone done = kNothing);
/// C ← Aᵀ B, shapes (k × m)ᵀ (k × n) → (m × n). A and B in panels.
template <class S>
void multiply_panels_at_b(PanelMap<const S> a, PanelMap<const S> b, MatrixRef<S> c, S* packed);

}  // namespace tocca
