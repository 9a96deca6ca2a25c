#include "tocca/data/readers/mat_text.h"

#include <cstdint>
#include <cstring>

#include "tocca/data/text.h"

namespace tocca::detail {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | (code >> 18 & 7));
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

/// Code units of 1 to 4 bytes: UTF-8 as it is, UTF-16 (its pairs joined) or UTF-32.
std::string decode(const std::vector<std::uint32_t>& units, int unit_size) {
  std::string text;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool pair = unit_size == 2 && i + 1 < units.size() && (units[i] & 0xFC00) == 0xD800;
    if (unit_size == 1) {
      text += static_cast<char>(units[i]);
    } else if (pair) {
      append_utf8(text, 0x10000 + ((units[i] & 0x3FF) << 10) + (units[i + 1] & 0x3FF));
      ++i;
    } else {
      append_utf8(text, units[i]);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> mat_texts(const matvar_t& chars) {
  const auto size = static_cast<std::size_t>(chars.data_size);
  const std::size_t rows = mat_dims(chars)[0];
  std::vector<std::string> texts;
  if (rows == 0 || size == 0) return texts;
  // MATIO's dims count characters, of which one may take several units: the bytes say how many there are.
  const std::size_t width = chars.nbytes / size / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::uint32_t> units(width);
    for (std::size_t j = 0; j < width; ++j) {
      std::memcpy(&units[j], static_cast<const char*>(chars.data) + (j * rows + i) * size, size);
    }
    texts.emplace_back(trimmed(decode(units, chars.data_size)));
  }
  return texts;
}

}  // namespace tocca::detail
