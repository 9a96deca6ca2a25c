/// Large matrix products by own kernels: at most B is packed, and C is written once for 512 terms of its sums, in
/// panels for 144 and with Aᵀ B for 128. The bits of a number of C do not depend on which other rows and columns are
/// computed with it.
#pragma once

#include "tocca/linalg/product.h"

namespace tocca::detail {

/// Whether those of matrices row by row are faster than OpenBLAS for sums of k terms on this processor
/// (docs/performance.md).
bool blocked_is_faster(std::size_t k);

/// A (m × k) and B (k × n); k > 0.
void blocked_a_b(const Product<float>& product);
void blocked_a_b(const Product<double>& product);
/// A (m × k) and Bᵀ for B (n × k); k > 0.
void blocked_a_bt(const Product<float>& product);
void blocked_a_bt(const Product<double>& product);

/// The same two where A and C lie in panels.
void panels_a_b(const PanelProduct<float>& product);
void panels_a_b(const PanelProduct<double>& product);
void panels_a_bt(const PanelProduct<float>& product);
void panels_a_bt(const PanelProduct<double>& product);
/// Aᵀ for A (k × m) and B (k × n), both in panels; k > 0. Nothing is packed.
void panels_at_b(const InnerPanelProduct<float>& product);
void panels_at_b(const InnerPanelProduct<double>& product);

}  // namespace tocca::detail
