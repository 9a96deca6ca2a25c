#include "tocca/data/readers/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/data/readers/test_gzip.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::detail {
namespace {

using testing::error_message;
using ::testing::HasSubstr;
using testing::TempDir;

template <class T>
std::string big_endian(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) {
    std::string number(reinterpret_cast<const char*>(&value), sizeof value);
    std::reverse(number.begin(), number.end());
    bytes += number;
  }
  return bytes;
}

template <class T>
std::string idx(int code, const std::vector<std::uint32_t>& dims, const std::vector<T>& values) {
  const std::string magic = {'\0', '\0', static_cast<char>(code), static_cast<char>(dims.size())};
  return magic + big_endian(dims) + big_endian(values);
}

TableFile read(const std::string& bytes) {
  const TempDir dir;
  return read_idx(dir.write("a.idx", bytes), {});
}

std::string refusal(const std::string& bytes) {
  return error_message<InputError>([&] { read(bytes); });
}

template <class T>
void expect_reads(int code, NumberType type) {
  for (const std::vector<std::uint32_t>& dims : {std::vector<std::uint32_t>{3, 2}, {3, 1, 2}}) {
    const TableFile file = read(idx<T>(code, dims, {1, 2, 3, 4, 5, 100}));
    EXPECT_EQ(file.values.type(), type);
    EXPECT_EQ(file.values.rows(), 3);
    EXPECT_EQ(file.values.columns(), 2);
    EXPECT_EQ(file.values.at(1, 0), 3);
    EXPECT_EQ(file.values.at(2, 1), 100);
  }
}

TEST(Idx, ReadsEveryNumberType) {
  expect_reads<std::uint8_t>(0x08, NumberType::u1);
  expect_reads<std::int8_t>(0x09, NumberType::i1);
  expect_reads<std::int16_t>(0x0B, NumberType::i2);
  expect_reads<std::int32_t>(0x0C, NumberType::i4);
  expect_reads<float>(0x0D, NumberType::f4);
  expect_reads<double>(0x0E, NumberType::f8);
}

TEST(Idx, ReadsLabelsAndGzip) {
  const TempDir dir;
  const std::string bytes = idx<std::uint8_t>(0x08, {3}, {5, 0, 4});
  const TableFile file = read_idx(dir.write("a.idx.gz", testing::gzip(bytes)), {});
  EXPECT_EQ(file.values.rows(), 3);
  EXPECT_EQ(file.values.columns(), 1);
  EXPECT_EQ(file.values.at(2, 0), 4);
}

TEST(Idx, RefusesOtherFiles) {
  EXPECT_THAT(refusal("x,y\n1,2\n"), HasSubstr("not an IDX file: got other data, need two zero bytes at the start"));
  EXPECT_THAT(refusal(std::string(2, '\0')), HasSubstr("not an IDX file"));
  EXPECT_THAT(refusal(idx<std::uint8_t>(0x0A, {1}, {1})), HasSubstr("number type not known: got code 0x0A, need 08"));
}

TEST(Idx, RefusesMoreThanTheHeaderSays) {
  EXPECT_THAT(refusal(idx<std::uint8_t>(0x08, {2, 2}, {1, 2, 3, 4, 5})),
              HasSubstr("more values than the header says: got 5 bytes, need 4"));
}

TEST(Idx, RefusesTruncatedFiles) {
  const std::string bytes = idx<std::int32_t>(0x0C, {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)),
              HasSubstr("file is cut short: got 15 bytes of values, need 16; fetch or write it again"));
  EXPECT_THAT(refusal(bytes.substr(0, 7)), HasSubstr("file is cut short: got 3 bytes"));
  EXPECT_THAT(refusal(idx<std::uint8_t>(0x08, {4000000000, 4000000000, 4000000000}, {1})),
              HasSubstr("array is too large"));
  EXPECT_THAT(refusal(idx<std::uint8_t>(0x08, {0, 4}, {})), HasSubstr("array has no rows: got shape (0 x 4)"));
}

}  // namespace
}  // namespace tocca::detail
