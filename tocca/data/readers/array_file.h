/// What files that hold one array of numbers have in common.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tocca/data/readers.h"

namespace tocca::detail {

/// Samples and columns of an array: the first dimension and the product of the others (1 if there are none). Throws
/// InputError: no dimension, a dimension of 0, sizes no memory can hold.
struct ArrayShape {
  Index rows = 0;
  Index columns = 0;
  std::size_t bytes = 0;  ///< of all the values
};
ArrayShape flatten_shape(const std::string& path, std::span<const std::size_t> dims, NumberType type);

/// Throws InputError unless exactly `need` bytes of values are there.
void check_length(const std::string& path, std::size_t got, std::size_t need);

/// A file without ids whose columns are named c0, c1, ...
TableFile unnamed_table(const std::string& path, Table values);

/// The numbers of a column as labels: empty where one is missing.
std::vector<std::string> column_texts(const Table& values, Index column);

}  // namespace tocca::detail
