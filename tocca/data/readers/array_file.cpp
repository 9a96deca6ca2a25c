#include "tocca/data/readers/array_file.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca::detail {

ArrayShape flatten_shape(const std::string& path, std::span<const std::size_t> dims, NumberType type) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 62;
  std::size_t bytes = size_of(type);
  for (const std::size_t dim : dims) {
    if (dim != 0 && bytes > kMostBytes / dim) {
      throw InputError(path, fmt::format("array is too large: got shape {}, need one that fits in memory; the file is "
                                         "likely damaged, fetch it again",
                                         fmt::join(dims, " x ")));
    }
    bytes *= dim;
  }
  if (dims.empty() || bytes == 0) {
    throw InputError(path, fmt::format("array has no rows: got shape ({}), need samples x columns; check how it was "
                                       "written",
                                       fmt::join(dims, " x ")));
  }
  const std::size_t columns = bytes / size_of(type) / dims.front();
  return {static_cast<Index>(dims.front()), static_cast<Index>(columns), bytes};
}

void check_length(const std::string& path, std::size_t got, std::size_t need) {
  if (got == need) return;
  if (got > need) {
    throw InputError(path, fmt::format("more values than the header says: got {} bytes, need {}; write one array to a "
                                       "file",
                                       got, need));
  }
  throw InputError(
      path, fmt::format("file is cut short: got {} bytes of values, need {}; fetch or write it again", got, need));
}

TableFile unnamed_table(const std::string& path, Table values) {
  TableFile file{path, std::move(values), {}, {}};
  for (Index j = 0; j < file.values.columns(); ++j) file.features.push_back(fmt::format("c{}", j));
  return file;
}

std::vector<std::string> column_texts(const Table& values, Index column) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(values.rows()));
  for (Index i = 0; i < values.rows(); ++i) {
    const double value = values.at(i, column);
    texts.push_back(std::isnan(value) ? std::string() : number_text(value));
  }
  return texts;
}

}  // namespace tocca::detail
