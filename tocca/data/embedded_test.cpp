#include "tocca/data/embedded.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <string>

#include "tocca/core/file.h"

namespace tocca {
namespace {

std::string inflate_all(std::span<const unsigned char> bytes) {
  std::string text(1U << 20, '\0');
  z_stream stream{};
  stream.next_in = const_cast<unsigned char*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int gzip = 16 + MAX_WBITS;
  EXPECT_EQ(inflateInit2(&stream, gzip), Z_OK);
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(EmbeddedDigits, AreTheFileByteForByte) {
  const std::string file = read_file(TOCCA_SOURCE_DIR "/data/digits.csv.gz");
  const auto bytes = embedded_digits();
  EXPECT_TRUE(std::ranges::equal(bytes, file, {}, {}, [](char c) { return static_cast<unsigned char>(c); }));
}

TEST(EmbeddedDigits, HoldAllImages) {
  const std::string text = inflate_all(embedded_digits());
  EXPECT_EQ(std::ranges::count(text, '\n'), 1797);
  EXPECT_EQ(std::ranges::count(text, ','), 1797 * 64);
}

}  // namespace
}  // namespace tocca
