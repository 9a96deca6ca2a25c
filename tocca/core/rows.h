/// Rows of numbers as kernels see them, which are compiled once for each instruction set and keep matrix types out.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tocca/core/matrix.h"

namespace tocca {

template <class S>
struct Rows {
  S* data;
  std::size_t stride;  ///< numbers from one row to the next

  [[nodiscard]] S* at(std::size_t row, std::size_t column = 0) const { return data + row * stride + column; }
};

/// Eigen gives a matrix of one row any stride; kernels may rely on a sound one.
template <class S>
Rows<const S> rows_of(ConstMatrixRef<S> m) {
  return {m.data(), static_cast<std::size_t>(std::max(m.outerStride(), m.cols()))};
}
template <class S>
Rows<S> rows_of(MatrixRef<S>& m) {
  return {m.data(), static_cast<std::size_t>(std::max(m.outerStride(), m.cols()))};
}

}  // namespace tocca
