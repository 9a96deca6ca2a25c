/// Products of matrices in panels (core/panels.h) by own kernels, single-threaded. Dimensions may be zero. What lies
/// behind C's last columns in their panel has no meaning afterwards. All throw InputError where shapes do not agree, or
/// a matrix that has to lie in panels does not.
#pragma once

#include "tocca/core/panels.h"
#include "tocca/linalg/product.h"

namespace tocca {

/// Numbers that the products with B row by row need a place for, at a boundary of cache lines.
template <class S>
inline constexpr Index kPackedNumbers = static_cast<Index>(detail::kPackedNumbers<S>);

/// C ← A B, shapes (m × k) (k × n) → (m × n). A and C in panels.
template <class S>
void multiply_panels(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed);
/// C ← A Bᵀ, shapes (m × k) (n × k)ᵀ → (m × n). A and C in panels.
template <class S>
void multiply_panels_a_bt(PanelMap<const S> a, ConstMatrixRef<S> b, PanelMap<S> c, S* packed);
/// C ← Aᵀ B, shapes (k × m)ᵀ (k × n) → (m × n). A and B in panels.
template <class S>
void multiply_panels_at_b(PanelMap<const S> a, PanelMap<const S> b, MatrixRef<S> c);

}  // namespace tocca
