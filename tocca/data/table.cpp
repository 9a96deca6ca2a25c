#include "tocca/data/table.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tocca {
namespace {

struct NumberTypeFacts {
  std::size_t size;
  std::string_view name;
};

const NumberTypeFacts& facts(NumberType type) {
  static constexpr std::array<NumberTypeFacts, 10> kFacts = {{{4, "float32"},
                                                              {8, "float64"},
                                                              {1, "int8"},
                                                              {2, "int16"},
                                                              {4, "int32"},
                                                              {8, "int64"},
                                                              {1, "uint8"},
                                                              {2, "uint16"},
                                                              {4, "uint32"},
                                                              {8, "uint64"}}};
  return kFacts[static_cast<std::size_t>(type)];
}

/// Whether `wanted` NaN-ness occurs in the row; integers count as present.
bool row_contains(const Table& table, Index row, bool missing) {
  return table.visit([&]<class T>(const T* first, Index row_stride, Index column_stride) {
    if constexpr (std::is_floating_point_v<T>) {
      const T* in = first + row * row_stride;
      for (Index j = 0; j < table.columns(); ++j) {
        if (std::isnan(in[j * column_stride]) == missing) return true;
      }
      return false;
    } else {
      return !missing;
    }
  });
}

/// Converts a row; `stride` as a constant 1 is what lets the compiler vectorise.
template <class T, class Stride>
void convert_row(const T* in, Stride stride, double* out, Index columns) {
  for (Index j = 0; j < columns; ++j) out[j] = static_cast<double>(in[j * stride]);
}

/// Gives back the whole pages of [begin, end) and what is left of the page before.
void drop_pages(std::uintptr_t begin, std::uintptr_t end) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  begin -= begin % page;
  end -= end % page;
  // That the advice is not taken costs memory, and nothing else.
  if (begin < end) static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
}

}  // namespace

void Unmap::operator()(const void* mapped) const { munmap(const_cast<void*>(mapped), bytes); }

std::size_t size_of(NumberType type) { return facts(type).size; }
std::string_view name_of(NumberType type) { return facts(type).name; }

Table::Table(std::shared_ptr<const void> owner, const void* first, NumberType type, Index rows, Index columns,
             Index row_stride, Index column_stride)
    : owner_(std::move(owner)),
      first_(first),
      type_(type),
      rows_(rows),
      columns_(columns),
      row_stride_(row_stride),
      column_stride_(column_stride) {}

Table::Table(Matrix<double> values)
    : type_(NumberType::f8),
      rows_(values.rows()),
      columns_(values.cols()),
      row_stride_(values.cols()),
      column_stride_(1) {
  const auto kept = std::make_shared<const Matrix<double>>(std::move(values));
  first_ = kept->data();
  owner_ = kept;
}

Table::Table(Matrix<float> values)
    : type_(NumberType::f4),
      rows_(values.rows()),
      columns_(values.cols()),
      row_stride_(values.cols()),
      column_stride_(1) {
  const auto kept = std::make_shared<const Matrix<float>>(std::move(values));
  first_ = kept->data();
  owner_ = kept;
}

double Table::at(Index row, Index column) const {
  return visit([&](const auto* first, Index row_stride, Index column_stride) {
    return static_cast<double>(first[row * row_stride + column * column_stride]);
  });
}

void Table::read_rows(std::span<const Index> rows, MatrixRef<double> out) const {
  visit([&](const auto* first, Index row_stride, Index column_stride) {
    // Column-major tables are read a few columns at a time, so that neither side is walked through value by value.
    const Index width = column_stride == 1 ? columns_ : 8;
    for (Index left = 0; left < columns_; left += width) {
      const Index columns = std::min(width, columns_ - left);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto* in = first + rows[i] * row_stride + left * column_stride;
        double* to = out.data() + static_cast<Index>(i) * out.outerStride() + left;
        if (column_stride == 1) {
          convert_row(in, std::integral_constant<Index, 1>(), to, columns);
        } else {
          convert_row(in, column_stride, to, columns);
        }
      }
    }
  });
}

void Table::release(Index first, Index count) const {
  constexpr std::size_t kLeast = std::size_t{256} << 20;
  const Unmap* file = std::get_deleter<Unmap>(owner_);
  if (file == nullptr || file->bytes < kLeast || count == 0) return;
  const bool by_rows = row_stride_ >= column_stride_;
  const std::size_t width = size_of(type_);
  const auto place = [&](Index row, Index column) {
    const auto element = static_cast<std::size_t>(row * row_stride_ + column * column_stride_);
    return reinterpret_cast<std::uintptr_t>(first_) + element * width;
  };
  for (Index j = 0; j < (by_rows ? 1 : columns_); ++j) {
    drop_pages(place(first, j), place(first + count - 1, by_rows ? columns_ - 1 : j) + width);
  }
}

template <class S>
const S* Table::contiguous() const {
  const NumberType wanted = std::is_same_v<S, float> ? NumberType::f4 : NumberType::f8;
  const bool block = column_stride_ == 1 && row_stride_ == columns_;
  return type_ == wanted && block ? static_cast<const S*>(first_) : nullptr;
}

template const float* Table::contiguous<float>() const;
template const double* Table::contiguous<double>() const;

bool has_missing(const Table& table, Index row) { return row_contains(table, row, true); }
bool all_missing(const Table& table, Index row) { return table.columns() > 0 && !row_contains(table, row, false); }

}  // namespace tocca
