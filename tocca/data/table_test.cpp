#include "tocca/data/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <tuple>
#include <vector>

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
