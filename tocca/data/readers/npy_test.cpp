#include "tocca/data/readers/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::detail {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

/// A .npy file of that version whose header is padded so that the values are 64-byte aligned, as NumPy writes it.
std::string npy(const std::string& header, std::string_view values, int version = 1, bool align = true) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string padded = header;
  while (align && (prefix + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  const auto length = static_cast<std::uint32_t>(padded.size());
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes.append(reinterpret_cast<const char*>(&length), prefix - 8);
  return bytes + padded + std::string(values);
}

std::string dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TableFile read(const std::string& bytes) {
  const TempDir dir;
  return read_npy(dir.write("a.npy", bytes), {});
}

std::string refusal(const std::string& bytes) {
  return error_message<InputError>([&] { read(bytes); });
}

template <class T>
void expect_reads(const std::string& descr, NumberType type) {
  const TableFile file = read(npy(dict(descr, "(2, 3)"), bytes_of<T>({1, 2, 3, 4, 5, 100})));
  EXPECT_EQ(file.values.type(), type) << descr;
  EXPECT_EQ(file.values.at(0, 1), 2) << descr;
  EXPECT_EQ(file.values.at(1, 2), 100) << descr;
}

TEST(Npy, ReadsEveryNumberType) {
  expect_reads<float>("<f4", NumberType::f4);
  expect_reads<double>("<f8", NumberType::f8);
  expect_reads<std::int8_t>("|i1", NumberType::i1);
  expect_reads<std::int16_t>("<i2", NumberType::i2);
  expect_reads<std::int32_t>("<i4", NumberType::i4);
  expect_reads<std::int64_t>("<i8", NumberType::i8);
  expect_reads<std::uint8_t>("|u1", NumberType::u1);
  expect_reads<std::uint16_t>("<u2", NumberType::u2);
  expect_reads<std::uint32_t>("<u4", NumberType::u4);
  expect_reads<std::uint64_t>("<u8", NumberType::u8);
  EXPECT_EQ(read(npy(dict("|b1", "(2,)"), bytes_of<std::uint8_t>({0, 1}))).values.at(1, 0), 1);
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(read(npy(dict("<f8", "(1, 2)"), bytes_of<double>({7, 8}), version)).values.at(0, 1), 8) << version;
  }
}

TEST(Npy, ReadsFortranOrder) {
  const TableFile file = read(npy(dict("<f4", "(2, 3)", true), bytes_of<float>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(file.values.at(0, 2), 5);
  EXPECT_EQ(file.values.at(1, 0), 2);
  EXPECT_EQ(file.values.contiguous<float>(), nullptr);
}

TEST(Npy, NamesColumnsAndHasNoIds) {
  const TableFile file = read(npy(dict("<f8", "(1, 2)"), bytes_of<double>({7, 8})));
  EXPECT_THAT(file.features, ElementsAre("c0", "c1"));
  EXPECT_THAT(file.ids, IsEmpty());
}

TEST(Npy, FlattensOtherDimensions) {
  const TableFile column = read(npy(dict("<f8", "(3,)"), bytes_of<double>({1, 2, 3})));
  EXPECT_EQ(column.values.rows(), 3);
  EXPECT_EQ(column.values.columns(), 1);
  const TableFile images = read(npy(dict("|u1", "(2, 2, 2)"), bytes_of<std::uint8_t>({1, 2, 3, 4, 5, 6, 7, 8})));
  EXPECT_EQ(images.values.columns(), 4);
  EXPECT_EQ(images.values.at(1, 3), 8);
  EXPECT_THAT(refusal(npy(dict("|u1", "(1, 1, 2)", true), "ab")),
              HasSubstr("array has too many dimensions: got 3 in Fortran order, need 1 or 2; save"));
}

TEST(Npy, ReadsValuesThatAreNotAligned) {
  const TableFile file = read(npy(dict("<f8", "(1, 2)"), bytes_of<double>({7, 8}), 1, false));
  EXPECT_EQ(file.values.at(0, 0), 7);
  EXPECT_EQ(file.values.at(0, 1), 8);
}

TEST(Npy, UsesTheFileInPlace) {
  const TempDir dir;
  const std::string path = dir.write("a.npy", npy(dict("<f8", "(1, 2)"), bytes_of<double>({7, 8})));
  const TableFile file = read_npy(path, {});
  std::FILE* raw = std::fopen(path.c_str(), "r+b");
  const double changed = 9;
  std::fseek(raw, -static_cast<long>(sizeof changed), SEEK_END);
  std::fwrite(&changed, sizeof changed, 1, raw);
  std::fclose(raw);
  EXPECT_EQ(file.values.at(0, 1), 9);
}

TEST(Npy, RefusesOtherNumberTypes) {
  EXPECT_THAT(refusal(npy(dict(">f8", "(1, 1)"), "12345678")),
              HasSubstr("number type not supported: got >f8, need little-endian float32, float64, an integer type or "
                        "bool; convert it with array.astype('<f8')"));
  for (const char* descr : {"<f2", "<c8", "|O", "<U3", "<M8[ns]"}) {
    EXPECT_THAT(refusal(npy(dict(descr, "(1, 1)"), "12345678")),
                HasSubstr(std::string("number type not supported: got ") + descr + ", need"));
  }
  EXPECT_THAT(refusal(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "12345678")),
              HasSubstr("number type not supported: got [('a', '<f8')], need"));
}

TEST(Npy, RefusesMoreThanTheHeaderSays) {
  EXPECT_THAT(refusal(npy(dict("<f8", "(1, 1)"), "12345678abcdefgh")),
              HasSubstr("more values than the header says: got 16 bytes, need 8; write one array to a file"));
}

TEST(Npy, RefusesTruncatedAndDamagedFiles) {
  EXPECT_THAT(refusal(npy(dict("<f8", "(2, 3)"), "12345678")),
              HasSubstr("file is cut short: got 8 bytes of values, need 48; fetch or write it again"));
  EXPECT_THAT(refusal(npy(dict("<f8", "(1, 1)"), "").substr(0, 40)),
              HasSubstr("not a .npy file: got a file that ends within its header, need an array as numpy.save writes"));
  EXPECT_THAT(refusal("\x93NUMPY\x01"), HasSubstr("a file that ends within its header"));
  EXPECT_THAT(refusal("x,y\n1,2\n"), HasSubstr("not a .npy file: got other data, need"));
  EXPECT_THAT(refusal(npy(dict("<f8", "(1, 1)"), "12345678", 9)), HasSubstr("got format version 9"));
  EXPECT_THAT(refusal(npy("{'descr': '<f8', 'shape': (1,), }", "12345678")),
              HasSubstr("got a header without 'fortran_order'"));
  EXPECT_THAT(refusal(npy(dict("<f8", "(1, x)"), "12345678")), HasSubstr("got a header with a damaged shape"));
  EXPECT_THAT(refusal(npy(dict("<f8", "(4611686018427387904, 4)"), "12345678")), HasSubstr("array is too large: got"));
}

TEST(Npy, RefusesEmptyArrays) {
  for (const char* shape : {"(0, 3)", "(3, 0)", "()"}) {
    EXPECT_THAT(refusal(npy(dict("<f8", shape), "")), HasSubstr("array has no rows: got shape (")) << shape;
  }
}

}  // namespace
}  // namespace tocca::detail
