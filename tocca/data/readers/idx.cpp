#include "tocca/data/readers/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string_view>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers/array_file.h"
#include "tocca/data/readers/file.h"

namespace tocca::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "the values are swapped to little-endian");

NumberType parse_type(const std::string& path, unsigned char code) {
  switch (code) {
    case 0x08:
      return NumberType::u1;
    case 0x09:
      return NumberType::i1;
    case 0x0B:
      return NumberType::i2;
    case 0x0C:
      return NumberType::i4;
    case 0x0D:
      return NumberType::f4;
    case 0x0E:
      return NumberType::f8;
    default:
      throw InputError(path,
                       fmt::format("number type not known: got code 0x{:02X}, need 08, 09, 0B, 0C, 0D or 0E; check "
                                   "that it is an IDX file",
                                   code));
  }
}

std::size_t big_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::vector<std::size_t> parse_dims(const std::string& path, std::string_view bytes) {
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) {
    throw InputError(path, "not an IDX file: got other data, need two zero bytes at the start; check the file");
  }
  const auto count = static_cast<std::size_t>(static_cast<unsigned char>(bytes[3]));
  check_length(path, std::min(bytes.size() - 4, 4 * count), 4 * count);
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < count; ++i) dims.push_back(big_endian(bytes.substr(4 + 4 * i, 4)));
  return dims;
}

void swap_bytes(std::string& values, std::size_t size) {
  for (auto number = values.begin(); number != values.end(); number += static_cast<std::ptrdiff_t>(size)) {
    std::reverse(number, number + static_cast<std::ptrdiff_t>(size));
  }
}

}  // namespace

TableFile read_idx(const std::string& path, const ReadOptions&) {
  const auto bytes = std::make_shared<std::string>(read_file(path));
  const std::vector<std::size_t> dims = parse_dims(path, *bytes);
  const NumberType type = parse_type(path, static_cast<unsigned char>((*bytes)[2]));
  const ArrayShape shape = flatten_shape(path, dims, type);
  std::size_t offset = 4 + 4 * dims.size();
  check_length(path, bytes->size() - offset, shape.bytes);
  if (size_of(type) > 1) {
    // Numbers of several bytes are swapped, and moved to where they are aligned.
    bytes->erase(0, offset);
    bytes->resize(shape.bytes);
    swap_bytes(*bytes, size_of(type));
    offset = 0;
  }
  const Table values(bytes, bytes->data() + offset, type, shape.rows, shape.columns, shape.columns, 1);
  return unnamed_table(path, values);
}

}  // namespace tocca::detail
