/// IDX files, the format of MNIST, plain or packed with gzip.
///
/// Two zero bytes, a type code, the number of dimensions, the dimensions and the values, all big-endian. Arrays of
/// three or more dimensions are flattened to n × the rest.
#pragma once

#include <string>

#include "tocca/data/readers.h"

namespace tocca::detail {

TableFile read_idx(const std::string& path, const ReadOptions& options);

}  // namespace tocca::detail
