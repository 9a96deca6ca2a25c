#include "tocca/linalg/svd.h"

#include <fmt/format.h>
#include <lapacke.h>

#include <algorithm>
#include <limits>

#include "tocca/core/error.h"
#include "tocca/linalg/blas.h"

namespace tocca {

ThinSvd thin_svd(ConstMatrixRef<double> x) {
  const Index n = x.rows(), d = x.cols(), r = std::min(n, d);
  ThinSvd svd{Matrix<double>(n, r), Vector<double>(r), Matrix<double>(r, d)};
  if (r == 0) return svd;
  // The workspace of dgesdd has about 4 r² + 7 r and r · (n + d) numbers, counted in LAPACK's 32 bits.
  constexpr Index kMost = 20'000;
  if (r > kMost || n > std::numeric_limits<lapack_int>::max() || d > std::numeric_limits<lapack_int>::max())
    throw InputError("thin_svd",
                     fmt::format("shape: got {} x {}, need at most {} rows or columns; take fewer", n, d, kMost));
  if (!x.allFinite())
    throw Error("thin_svd", "entries: got one that is not finite, need finite numbers; check the data");
  detail::use_one_blas_thread();
  // Column-major LAPACK sees Xᵀ = right · diag · leftᵀ; its two outputs are, read row-major, right_t and left.
  Matrix<double> scratch = x;
  const auto rows = static_cast<lapack_int>(d), cols = static_cast<lapack_int>(n), rank = static_cast<lapack_int>(r);
  const lapack_int info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', rows, cols, scratch.data(), rows, svd.values.data(),
                                         svd.right_t.data(), rows, svd.left.data(), rank);
  if (info != 0)
    throw Error("thin_svd", fmt::format("LAPACK dgesdd: got code {}, need 0 (converged); scale the data", info));
  return svd;
}

}  // namespace tocca
