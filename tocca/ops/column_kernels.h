/// Passes over the columns of a batch, as batch normalisation needs them. Long batches are taken in blocks of rows, so
/// that what a pass has read the next still finds in the cache, and so that the rounding error of float grows with the
/// number of blocks and not of rows. `d` columns each.
#pragma once

#include "tocca/core/rows.h"

namespace tocca::detail {

/// sums_j ← Σᵢ x_ij.
void column_sums(std::size_t m, std::size_t d, Rows<const float> x, float* sums);
void column_sums(std::size_t m, std::size_t d, Rows<const double> x, double* sums);

/// Means and biased variances (divided by m) of the columns of x. Chan's merging of blocks.
void column_moments(std::size_t m, std::size_t d, Rows<const float> x, float* mean, float* variance);
void column_moments(std::size_t m, std::size_t d, Rows<const double> x, double* mean, double* variance);
/// The same of y ← max(y + bias, 0), which is written on the way.
void relu_moments(std::size_t m, std::size_t d, Rows<float> y, const float* bias, float* mean, float* variance);
void relu_moments(std::size_t m, std::size_t d, Rows<double> y, const double* bias, double* mean, double* variance);

/// out ← (x − mean) ∘ factor + shift; in place allowed.
void normalize_columns(std::size_t m, std::size_t d, Rows<const float> x, const float* mean, const float* factor,
                       const float* shift, Rows<float> out);
void normalize_columns(std::size_t m, std::size_t d, Rows<const double> x, const double* mean, const double* factor,
                       const double* shift, Rows<double> out);

/// sums_j ← Σᵢ g_ij and products_j ← Σᵢ g_ij (x_ij − mean_j).
void column_products(std::size_t m, std::size_t d, Rows<const float> x, const float* mean, Rows<const float> g,
                     float* sums, float* products);
void column_products(std::size_t m, std::size_t d, Rows<const double> x, const double* mean, Rows<const double> g,
                     double* sums, double* products);

/// g ← s ∘ g − p − q ∘ x.
void normalize_back(std::size_t m, std::size_t d, Rows<const float> x, const float* s, const float* p, const float* q,
                    Rows<float> g);
void normalize_back(std::size_t m, std::size_t d, Rows<const double> x, const double* s, const double* p,
                    const double* q, Rows<double> g);
/// The same where x > 0, elsewhere 0; and sums_j ← Σᵢ g_ij of that.
void relu_normalize_back(std::size_t m, std::size_t d, Rows<const float> x, const float* s, const float* p,
                         const float* q, Rows<float> g, float* sums);
void relu_normalize_back(std::size_t m, std::size_t d, Rows<const double> x, const double* s, const double* p,
                         const double* q, Rows<double> g, double* sums);

}  // namespace tocca::detail
