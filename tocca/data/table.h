/// A samples × features table of numbers as it lies in memory or in a mapped file, in any common number type and in
/// either storage order. Copies are cheap: they share the storage, which is never written to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "tocca/core/matrix.h"

namespace tocca {

enum class NumberType { f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 };

/// Bytes a number of this type takes.
std::size_t size_of(NumberType type);
/// "float32", "uint8", ...
std::string_view name_of(NumberType type);

/// Ends the mapping of a file: the deleter of a table's owner, by which `release` knows that the values can be read
/// again from the file.
struct Unmap {
  std::size_t bytes;
  void operator()(const void* mapped) const;
};

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
  /// Tells the operating system that `count` rows from `first` on are done with for now, so that a pass over a mapped
  /// file larger than memory leaves none of it behind. They are read again when they are looked at. Does nothing for
  /// what is no mapped file, or one of less than 256 MiB.
  void release(Index first, Index count) const;
  /// Where the values lie when they are one row-major block of S (float or double); null otherwise.
  template <class S>
  [[nodiscard]] const S* contiguous() const;
  /// Calls f(first, row_stride, column_stride) with the storage in its own number type, for loops that must not pay
  /// for a conversion or a branch per value: value (i, j) is first[i * row_stride + j * column_stride].
  template <class F>
  decltype(auto) visit(F&& f) const;

 private:
  std::shared_ptr<const void> owner_;
  const void* first_ = nullptr;
  NumberType type_ = NumberType::f8;
  Index rows_ = 0;
  Index columns_ = 0;
  Index row_stride_ = 0;
  Index column_stride_ = 0;
};

/// Whether a row holds a NaN; whether it holds nothing else. Integers are never missing.
bool has_missing(const Table& table, Index row);
bool all_missing(const Table& table, Index row);

template <class F>
decltype(auto) Table::visit(F&& f) const {
  const auto call = [&]<class T>(const T* first) -> decltype(auto) {
    return std::forward<F>(f)(first, row_stride_, column_stride_);
  };
  switch (type_) {
    case NumberType::f4:
      return call(static_cast<const float*>(first_));
    case NumberType::f8:
      return call(static_cast<const double*>(first_));
    case NumberType::i1:
      return call(static_cast<const std::int8_t*>(first_));
    case NumberType::i2:
      return call(static_cast<const std::int16_t*>(first_));
    case NumberType::i4:
      return call(static_cast<const std::int32_t*>(first_));
    case NumberType::i8:
      return call(static_cast<const std::int64_t*>(first_));
    case NumberType::u1:
      return call(static_cast<const std::uint8_t*>(first_));
    case NumberType::u2:
      return call(static_cast<const std::uint16_t*>(first_));
    case NumberType::u4:
      return call(static_cast<const std::uint32_t*>(first_));
    case NumberType::u8:
      break;
  }
  return call(static_cast<const std::uint64_t*>(first_));
}

}  // namespace tocca
