#include "tocca/data/readers/npy.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers/array_file.h"
#include "tocca/data/readers/file.h"
#include "tocca/data/text.h"

namespace tocca::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "mapped .npy files are little-endian");

struct NpyHeader {
  NumberType type = NumberType::f8;
  bool fortran_order = false;
  std::vector<std::size_t> dims;
  std::size_t data_offset = 0;
};

[[noreturn]] void refuse(const std::string& path, std::string_view got) {
  throw InputError(path, fmt::format("not a .npy file: got {}, need an array as numpy.save writes it; check how it was "
                                     "written",
                                     got));
}

/// What follows `'key':` in the header, a Python dict such as
/// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
std::string_view value_of(const std::string& path, std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::size_t found = header.find(fmt::format("{0}{1}{0}", quote, key));
    if (found == std::string_view::npos) continue;
    const std::size_t colon = header.find(':', found);
    if (colon != std::string_view::npos) return trimmed(header.substr(colon + 1));
  }
  refuse(path, fmt::format("a header without '{}'", key));
}

NumberType parse_type(const std::string& path, std::string_view value) {
  static constexpr std::pair<std::string_view, NumberType> kTypes[] = {
      {"f4", NumberType::f4}, {"f8", NumberType::f8}, {"i1", NumberType::i1}, {"i2", NumberType::i2},
      {"i4", NumberType::i4}, {"i8", NumberType::i8}, {"u1", NumberType::u1}, {"u2", NumberType::u2},
      {"u4", NumberType::u4}, {"u8", NumberType::u8}, {"b1", NumberType::u1}};
  const std::size_t close = value.empty() ? std::string_view::npos : value.find(value[0], 1);
  const bool quoted = close != std::string_view::npos && (value[0] == '\'' || value[0] == '"');
  const std::string_view descr = quoted ? value.substr(1, close - 1) : value.substr(0, value.find(", 'fortran"));
  if (quoted && descr.size() == 3) {
    const bool big_endian = descr[0] == '>' && descr[2] != '1';
    for (const auto& [code, type] : kTypes) {
      if (descr.substr(1) == code && !big_endian) return type;
    }
  }
  throw InputError(path,
                   fmt::format("number type not supported: got {}, need little-endian float32, float64, an integer "
                               "type or bool; convert it with array.astype('<f8')",
                               descr));
}

std::vector<std::size_t> parse_shape(const std::string& path, std::string_view value) {
  std::vector<std::size_t> dims;
  const std::size_t close = value.find(')');
  if (!value.starts_with('(') || close == std::string_view::npos) refuse(path, "a header with a damaged shape");
  value = trimmed(value.substr(1, close - 1));
  while (!value.empty()) {
    std::size_t dim = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), dim);
    if (status != std::errc()) refuse(path, "a header with a damaged shape");
    dims.push_back(dim);
    value = trimmed(value.substr(static_cast<std::size_t>(end - value.data())));
    if (value.starts_with(',')) value = trimmed(value.substr(1));
  }
  return dims;
}

NpyHeader parse_header(const std::string& path, const MappedFile& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes), file.size);
  if (!bytes.starts_with(kMagic)) refuse(path, "other data");
  const int version = bytes.size() > 6 ? file.bytes[6] : 0;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3) refuse(path, fmt::format("format version {}", version));
  if (bytes.size() < 8 + length_bytes) refuse(path, "a file that ends within its header");
  std::uint32_t length = 0;
  std::memcpy(&length, file.bytes + 8, length_bytes);
  const std::size_t offset = 8 + length_bytes + length;
  if (bytes.size() < offset) refuse(path, "a file that ends within its header");

  const std::string_view header = bytes.substr(8 + length_bytes, length);
  const bool fortran = value_of(path, header, "fortran_order").starts_with("True");
  return {parse_type(path, value_of(path, header, "descr")), fortran,
          parse_shape(path, value_of(path, header, "shape")), offset};
}

/// The values where they lie, or a copy when some writer placed them off their natural alignment.
std::pair<std::shared_ptr<const void>, const void*> aligned_values(const MappedFile& file, const NpyHeader& header,
                                                                   std::size_t bytes) {
  const unsigned char* first = file.bytes + header.data_offset;
  if (reinterpret_cast<std::uintptr_t>(first) % size_of(header.type) == 0) return {file.owner, first};
  const auto copy = std::make_shared<std::vector<double>>(bytes / sizeof(double) + 1);
  std::memcpy(copy->data(), first, bytes);
  return {copy, copy->data()};
}

}  // namespace

TableFile read_npy(const std::string& path, const ReadOptions&) {
  const MappedFile file = map_file(path);
  const NpyHeader header = parse_header(path, file);
  const ArrayShape shape = flatten_shape(path, header.dims, header.type);
  check_length(path, file.size - header.data_offset, shape.bytes);
  if (header.fortran_order && header.dims.size() > 2) {
    throw InputError(path, fmt::format("array has too many dimensions: got {} in Fortran order, need 1 or 2; save "
                                       "numpy.ascontiguousarray(array)",
                                       header.dims.size()));
  }
  const auto [owner, first] = aligned_values(file, header, shape.bytes);
  const Index row_stride = header.fortran_order ? 1 : shape.columns;
  const Index column_stride = header.fortran_order ? shape.rows : 1;
  return unnamed_table(path, Table(owner, first, header.type, shape.rows, shape.columns, row_stride, column_stride));
}

}  // namespace tocca::detail
