/// NumPy's .npy files (format 1 to 3), seen in place: the file is mapped, not read.
///
/// float32, float64, integers of 1 to 8 bytes and bool, little-endian, C or Fortran order. A one-dimensional array is
/// one column; one of three or more dimensions (C order) is flattened to n × the rest.
#pragma once

#include <string>

#include "tocca/data/readers.h"

namespace tocca::detail {

TableFile read_npy(const std::string& path, const ReadOptions& options);

}  // namespace tocca::detail
