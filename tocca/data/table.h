/// A samples × features table of numbers as it lies in memory or in a mapped file, in any common number type and in
/// either storage order. Copies are cheap: they share the storage, which is never written to.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "tocca/core/matrix.h"

namespace tocca {

enum class NumberType { f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 };

/// Bytes a number of this type takes.
std::size_t size_of(NumberType type);
/// "float32", "uint8", ...
std::string_view name_of(NumberType type);

class Table {
 public:
  Table() = default;
  /// `first` is element (0, 0); strides are in elements. `owner` keeps the storage alive.
  Table(std::shared_ptr<const void> owner, const void* first, NumberType type, Index rows, Index columns,
        Index row_stride, Index column_stride);
  /// Takes over a matrix.
  explicit Table(Matrix<double> values);
  explicit Table(Matrix<float> values);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  [[nodiscard]] NumberType type() const { return type_; }
  /// One value, as double.
  [[nodiscard]] double at(Index row, Index column) const;
  /// Copies the given rows, converted to double, into `out` (rows.size() × columns). Rows may repeat.
  void read_rows(std::span<const Index> rows, MatrixRef<double> out) const;
  /// Where row 0 lies when the rows are contiguous float32 or float64; null otherwise.
  template <class S>
  [[nodiscard]] const S* contiguous() const;

 private:
  std::shared_ptr<const void> owner_;
  const void* first_ = nullptr;
  NumberType type_ = NumberType::f8;
  Index rows_ = 0;
  Index columns_ = 0;
  Index row_stride_ = 0;
  Index column_stride_ = 0;
};

}  // namespace tocca
