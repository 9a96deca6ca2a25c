/// Rows of numbers as kernels see them, which are compiled once for each instruction set and keep matrix types out.
#pragma once

#include <cstddef>

#include "tocca/core/matrix.h"

namespace tocca {

template <class S>
struct Rows {
  S* data;
  std::size_t stride;  ///< numbers from one row to the next

  [[nodiscard]] S* at(std::size_t row, std::size_t column = 0) const { return data + row * stride + column; }
};

template <class S>
Rows<const S> rows_of(const ConstMatrixRef<S>& m) {
  return {m.data(), static_cast<std::size_t>(m.outerStride())};
}

template <class S>
Rows<S> rows_of(MatrixRef<S>& m) {
  return {m.data(), static_cast<std::size_t>(m.outerStride())};
}

}  // namespace tocca
