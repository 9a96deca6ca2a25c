#include "tocca/data/table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tocca/data/readers/file.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Pages of mapped files that this process has in memory.
Index pages_of_files() {
  std::ifstream in("/proc/self/statm");
  Index size = 0, resident = 0, shared = 0;
  in >> size >> resident >> shared;
  return shared;
}

template <class T>
struct TableOf : ::testing::Test {};
using Types = ::testing::Types<std::tuple<float, std::integral_constant<NumberType, NumberType::f4>>,
                               std::tuple<double, std::integral_constant<NumberType, NumberType::f8>>,
                               std::tuple<std::int8_t, std::integral_constant<NumberType, NumberType::i1>>,
                               std::tuple<std::int16_t, std::integral_constant<NumberType, NumberType::i2>>,
                               std::tuple<std::int32_t, std::integral_constant<NumberType, NumberType::i4>>,
                               std::tuple<std::int64_t, std::integral_constant<NumberType, NumberType::i8>>,
                               std::tuple<std::uint8_t, std::integral_constant<NumberType, NumberType::u1>>,
                               std::tuple<std::uint16_t, std::integral_constant<NumberType, NumberType::u2>>,
                               std::tuple<std::uint32_t, std::integral_constant<NumberType, NumberType::u4>>,
                               std::tuple<std::uint64_t, std::integral_constant<NumberType, NumberType::u8>>>;
TYPED_TEST_SUITE(TableOf, Types);

TYPED_TEST(TableOf, ReadsBothStorageOrders) {
  using T = std::tuple_element_t<0, TypeParam>;
  constexpr NumberType kType = std::tuple_element_t<1, TypeParam>::value;
  EXPECT_EQ(size_of(kType), sizeof(T));
  const auto values = std::make_shared<std::vector<T>>();
  for (int i = 0; i < 6; ++i) values->push_back(static_cast<T>(std::numeric_limits<T>::max() / T(8) + T(i)));
  const Table by_row(values, values->data(), kType, 2, 3, 3, 1);
  const Table by_column(values, values->data(), kType, 2, 3, 1, 2);
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(by_row.at(i, j), static_cast<double>((*values)[static_cast<std::size_t>(3 * i + j)]));
      EXPECT_EQ(by_column.at(i, j), static_cast<double>((*values)[static_cast<std::size_t>(i + 2 * j)]));
    }
  }
  Matrix<double> rows(3, 3);
  by_column.read_rows(std::vector<Index>{1, 0, 1}, rows);
  EXPECT_EQ(rows(0, 2), by_column.at(1, 2));
  EXPECT_EQ(rows(1, 1), by_column.at(0, 1));
  EXPECT_EQ(rows(2, 0), by_column.at(1, 0));
}

TEST(Table, ReadsManyColumnsInEitherOrder) {
  constexpr Index kRows = 5, kColumns = 19;
  const auto values = std::make_shared<std::vector<float>>();
  for (Index i = 0; i < kRows * kColumns; ++i) values->push_back(static_cast<float>(i));
  const std::vector<Index> chosen = {4, 0, 2};
  for (const Table& table : {Table(values, values->data(), NumberType::f4, kRows, kColumns, kColumns, 1),
                             Table(values, values->data(), NumberType::f4, kRows, kColumns, 1, kRows)}) {
    Matrix<double> wide = Matrix<double>::Zero(3, kColumns + 2);
    table.read_rows(chosen, wide.middleCols(1, kColumns));
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < kColumns; ++j) {
        EXPECT_EQ(wide(i, j + 1), table.at(chosen[static_cast<std::size_t>(i)], j));
      }
    }
    EXPECT_EQ(wide.col(0).sum() + wide.col(kColumns + 1).sum(), 0);
  }
}

TEST(Table, ReleasesTheRowsOfAMappedFileAndReadsThemAgain) {
  // 300 MB that take no room on the disk, all zero but the last value.
  constexpr Index kRows = 75'000, kColumns = 1000;
  const testing::TempDir dir;
  const std::string path = dir.write("large.bin", "");
  std::filesystem::resize_file(path, kRows * kColumns * sizeof(float));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const float last = 7;
    file.seekp((kRows * kColumns - 1) * static_cast<std::streamoff>(sizeof(float)));
    file.write(reinterpret_cast<const char*>(&last), sizeof(last));
  }
  const detail::MappedFile mapped = detail::map_file(path);
  for (const bool by_row : {true, false}) {
    const Table table(mapped.owner, mapped.bytes, NumberType::f4, kRows, kColumns, by_row ? kColumns : 1,
                      by_row ? 1 : kRows);
    const auto touch = [&] {
      const Index page = 1024;
      double sum = 0;
      for (Index i = 0; i < kRows * kColumns; i += page) {
        sum += by_row ? table.at(i / kColumns, i % kColumns) : table.at(i % kRows, i / kRows);
      }
      return sum;
    };
    EXPECT_EQ(touch(), 0);
    const Index before = pages_of_files();
    table.release(0, kRows);
    EXPECT_LT(pages_of_files(), before - 70'000);  // of 73,000
    EXPECT_EQ(table.at(kRows - 1, kColumns - 1), 7);
  }
}

TEST(Table, ReleasesNothingThatCouldNotBeReadAgain) {
  const Table table(Matrix<float>(Matrix<float>::Constant(70'000, 1000, 3)));  // 280 MB of memory
  table.release(0, 70'000);
  EXPECT_EQ(table.at(35'000, 500), 3);
}

TEST(Table, TakesOverMatrices) {
  Matrix<float> values(2, 2);
  values << 1, 2, 3, 4;
  const Table table(values);
  EXPECT_EQ(table.type(), NumberType::f4);
  EXPECT_EQ(table.at(1, 0), 3);
  EXPECT_EQ(Table(Matrix<double>(values.cast<double>())).at(0, 1), 2);
}

TEST(Table, CopiesKeepTheStorageAlive) {
  auto table = std::make_unique<Table>(Matrix<double>(Matrix<double>::Constant(3, 4, 7.0)));
  const Table copy = *table;
  table.reset();
  EXPECT_EQ(copy.at(2, 3), 7.0);
}

TEST(Table, IsContiguousOnlyAsOneRowMajorBlockOfTheType) {
  const Table table(Matrix<double>(Matrix<double>::Zero(3, 4)));
  EXPECT_NE(table.contiguous<double>(), nullptr);
  EXPECT_EQ(table.contiguous<float>(), nullptr);
  const std::vector<double> values(12);
  EXPECT_EQ(Table(nullptr, values.data(), NumberType::f8, 3, 4, 1, 3).contiguous<double>(), nullptr);
  EXPECT_EQ(Table(nullptr, values.data(), NumberType::f8, 3, 2, 4, 1).contiguous<double>(), nullptr);
}

TEST(Table, NamesTypes) {
  EXPECT_EQ(name_of(NumberType::f4), "float32");
  EXPECT_EQ(name_of(NumberType::u8), "uint64");
}

TEST(Table, FindsMissingValues) {
  Matrix<double> values(3, 2);
  values << 1, 2, kNaN, 2, kNaN, kNaN;
  const Table table(values);
  EXPECT_FALSE(has_missing(table, 0));
  EXPECT_TRUE(has_missing(table, 1));
  EXPECT_FALSE(all_missing(table, 1));
  EXPECT_TRUE(all_missing(table, 2));
  const std::vector<std::int8_t> whole(2);
  const Table integers(nullptr, whole.data(), NumberType::i1, 1, 2, 2, 1);
  EXPECT_FALSE(has_missing(integers, 0));
  EXPECT_FALSE(all_missing(integers, 0));
}

}  // namespace
}  // namespace tocca
