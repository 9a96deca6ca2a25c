/// Matrix products through CBLAS, or by own kernels for few rows and small ones, or in single precision by the
/// processor's matrix unit (linalg/matrix_unit.h), single-threaded: parallelism is above, over views and fixed blocks
/// of rows, so that results do not depend on the number of threads. Dimensions may be zero (an empty sum is zero). All
/// throw InputError where shapes do not agree, or a dimension does not fit BLAS's integer. By the unit infinite numbers
/// and those from 3.396·10³⁸ on give NaN. With beta = 0, C need not be initialised.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// C ← alpha · A B + beta · C, shapes (m × k) (k × n) → (m × n).
template <class S>
void multiply(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha = 1, S beta = 0);
/// Of such products with up to so many rows of A, columns may be computed apart.
inline constexpr Index kFewRows = 128;
/// Columns first ... first + count − 1 of that, the same to the last bit, and nothing else of C. Throws InputError for
/// columns that C does not have, or with more than kFewRows rows.
template <class S>
void multiply_columns(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, Index first, Index count, S alpha = 1,
                      S beta = 0);
/// Columns of C that a call of multiply_columns() should have at least, where A is m × k and C m × n.
template <class S>
Index columns_worth_a_call(Index m, Index k, Index n);

/// C ← alpha · Aᵀ B + beta · C, shapes (k × m)ᵀ (k × n) → (m × n).
template <class S>
void multiply_at_b(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha = 1, S beta = 0);
/// C ← alpha · A Bᵀ + beta · C, shapes (m × k) (n × k)ᵀ → (m × n).
template <class S>
void multiply_a_bt(ConstMatrixRef<S> a, ConstMatrixRef<S> b, MatrixRef<S> c, S alpha = 1, S beta = 0);
/// C ← alpha · Aᵀ A + beta · C for symmetric C (d × d), both triangles written.
template <class S>
void multiply_at_a(ConstMatrixRef<S> a, MatrixRef<S> c, S alpha = 1, S beta = 0);

namespace detail {
/// Makes OpenBLAS compute in the calling thread, once and for the whole process. Called before any BLAS or LAPACK work.
void use_one_blas_thread();
}  // namespace detail

}  // namespace tocca
