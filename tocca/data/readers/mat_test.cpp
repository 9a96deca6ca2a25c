#include "tocca/data/readers/mat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tocca/core/error.h"
#include "tocca/data/readers/test_mat.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::detail {
namespace {

using namespace tocca::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Tests over every format that MATLAB writes.
class Mat : public ::testing::TestWithParam<MatFormat> {
 protected:
  template <class... Variables>
  std::string write(const Variables&... variables) {
    return write_mat(dir_.file("a.mat"), GetParam(), variables...);
  }
  TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Formats, Mat, ::testing::ValuesIn(kMatFormats));

TableFile read(const std::string& path) { return read_mat(path, {}); }
LabelColumn labels(const std::string& path, const std::string& column) { return read_mat_labels(path, column, {}); }
std::string refusal(const std::string& path) {
  return error_message<InputError>([&] { read(path); });
}
std::string label_refusal(const std::string& path, const std::string& column) {
  return error_message<InputError>([&] { labels(path, column); });
}

MatVariable three_by_two(const char* name = "X") { return mat_numbers<double>(name, {3, 2}, {1, 2, 3, 4, 5, 6}); }

template <class T>
void expect_reads(const std::string& path, NumberType type) {
  const TableFile file = read(path);
  EXPECT_EQ(file.values.type(), type);
  ASSERT_EQ(file.values.rows(), 3);
  ASSERT_EQ(file.values.columns(), 2);
  EXPECT_EQ(file.values.at(1, 0), 2);
  EXPECT_EQ(file.values.at(0, 1), 4);
  EXPECT_EQ(file.values.at(2, 1), 100);
}

TEST_P(Mat, KeepsEveryNumberType) {
  const auto expect = [&]<class T>(T, NumberType type) {
    expect_reads<T>(write(mat_numbers<T>("X", {3, 2}, {1, 2, 3, 4, 5, 100})) + ":X", type);
  };
  expect(double(), NumberType::f8);
  expect(float(), NumberType::f4);
  expect(std::int8_t(), NumberType::i1);
  expect(std::int16_t(), NumberType::i2);
  expect(std::int32_t(), NumberType::i4);
  expect(std::int64_t(), NumberType::i8);
  expect(std::uint8_t(), NumberType::u1);
  expect(std::uint16_t(), NumberType::u2);
  expect(std::uint32_t(), NumberType::u4);
  expect(std::uint64_t(), NumberType::u8);
}

TEST_P(Mat, ReadsLogicalAsNumbers) {
  const std::string path = write(mat_numbers<std::uint8_t>("X", {2, 1}, {1, 0}, MAT_F_LOGICAL));
  EXPECT_EQ(read(path).values.at(0, 0), 1);
  EXPECT_THAT(labels(path, "X").text, ElementsAre("1", "0"));
}

TEST_P(Mat, TransposesWhenAskedTo) {
  const std::string path = write(three_by_two());
  const TableFile turned = read(path + ":X'");
  ASSERT_EQ(turned.values.rows(), 2);
  ASSERT_EQ(turned.values.columns(), 3);
  EXPECT_EQ(turned.values.at(0, 2), 3);
  EXPECT_EQ(turned.values.at(1, 0), 4);
  EXPECT_NE(turned.values.contiguous<double>(), nullptr) << "needs no copy";
  EXPECT_EQ(turned.path, path + ":X'");
}

TEST_P(Mat, NamesColumnsAndHasNoIds) {
  const TableFile file = read(write(three_by_two()));
  EXPECT_THAT(file.features, ElementsAre("c0", "c1"));
  EXPECT_THAT(file.ids, IsEmpty());
}

TEST_P(Mat, ReadsCells) {
  const std::string path =
      write(mat_cells_of("X", three_by_two(nullptr), mat_numbers<float>(nullptr, {2, 1}, {7, 8})), three_by_two("Y"));
  EXPECT_EQ(read(path + ":X{1}").values.at(2, 1), 6);
  EXPECT_EQ(read(path + ":X(2)").values.at(1, 0), 8);
  EXPECT_EQ(read(path + ":X(2)").path, path + ":X{2}");
  EXPECT_EQ(read(path + ":X{2}'").values.columns(), 2);
  EXPECT_THAT(refusal(path + ":X{3}"),
              HasSubstr("[" + path + ":X{3}] no such cell: got 3, need 1 to 2; check the number"));
  EXPECT_THAT(refusal(path + ":X"), HasSubstr("not a matrix of numbers: got 1 x 2 cell, need one; write " + path +
                                              ":X{1} to " + path + ":X{2}"));
  EXPECT_THAT(refusal(path + ":Y{1}"),
              HasSubstr("not a cell array: got 3 x 2 double, need cells; write " + path + ":Y"));
}

TEST_P(Mat, MakesSparseMatricesDense) {
  std::array<mat_uint32_t, 3> rows{2, 0, 3};
  std::array<mat_uint32_t, 4> starts{0, 1, 1, 3};
  std::array<double, 3> values{5, 6, 7};
  mat_sparse_t sparse{3, rows.data(), 3, starts.data(), 4, 3, values.data()};
  std::size_t dims[] = {4, 3};
  const MatVariable variable(Mat_VarCreate("S", MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &sparse, MAT_F_DONT_COPY_DATA));
  const TableFile file = read(write(variable) + ":S");
  ASSERT_EQ(file.values.rows(), 4);
  ASSERT_EQ(file.values.columns(), 3);
  double sum = 0;
  for (Index i = 0; i < 12; ++i) sum += file.values.at(i / 3, i % 3);
  EXPECT_EQ(sum, 18);
  EXPECT_EQ(file.values.at(2, 0), 5);
  EXPECT_EQ(file.values.at(0, 2), 6);
  EXPECT_EQ(file.values.at(3, 2), 7);
}

TEST_P(Mat, TakesTheOnlyMatrixOfAFile) {
  const std::string path = write(mat_chars("note", {u"hello"}), three_by_two());
  EXPECT_EQ(read(path).path, path + ":X");
  const std::string two = write(three_by_two("A"), mat_cells_of("B", three_by_two(nullptr)));
  EXPECT_THAT(refusal(two), HasSubstr("variable not chosen: got A (3 x 2 double), B (1 x 1 cell), need one; write its "
                                      "name after the file's, as in " +
                                      two + ":A"));
  EXPECT_THAT(refusal(write(mat_chars("note", {u"hello"}))), HasSubstr("nothing to read: got note (1 x 5 char), need"));
}

TEST_P(Mat, ListsTheVariablesThereAre) {
  const std::string path = write(three_by_two("train"), three_by_two("test"));
  EXPECT_THAT(refusal(path + ":Train"),
              HasSubstr("[" + path + "] unknown variable 'Train': did you mean train? Known: "));
}

TEST_P(Mat, ListsItsParts) {
  const std::string path = write(mat_cells_of("X", three_by_two(nullptr)), mat_chars("note", {u"ab"}));
  const std::vector<TablePart> parts = mat_parts(path);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].name, "X{1}");
  EXPECT_EQ(parts[1].type, "double");
  EXPECT_EQ(parts[1].size, "3 x 2");
  EXPECT_EQ(parts[2].type, "char");
  EXPECT_THAT(mat_parts(path + ":X{1}"), IsEmpty()) << "one table";
  EXPECT_THAT(mat_parts(write(three_by_two())), IsEmpty()) << "one table";
}

TEST_P(Mat, RefusesWhatIsNoRealMatrix) {
  double parts[] = {1, 2};
  mat_complex_split_t split{parts, parts};
  std::size_t dims[] = {2, 1};
  const MatVariable complex(Mat_VarCreate("Z", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, &split, MAT_F_COMPLEX));
  const char* field = "f";
  const MatVariable record(Mat_VarCreateStruct("S", 2, dims, &field, 1));
  const std::string path =
      write(complex, record, mat_chars("C", {u"abc"}), mat_numbers<double>("N", {2, 1, 2}, {1, 2, 3, 4}),
            mat_numbers<double>("E", {0, 3}, {}));
  EXPECT_THAT(refusal(path + ":Z"), HasSubstr("[" + path + ":Z] numbers are complex: got complex values, need real"));
  EXPECT_THAT(refusal(path + ":S"), HasSubstr("not a matrix of numbers: got 2 x 1 struct, need one; save its fields"));
  EXPECT_THAT(refusal(path + ":C"), HasSubstr("not a matrix of numbers: got 1 x 3 char, need one; convert it"));
  EXPECT_THAT(refusal(path + ":N"), HasSubstr("array has too many dimensions: got 2 x 1 x 2, need samples x columns"));
  EXPECT_THAT(refusal(path + ":E"), HasSubstr("[" + path + ":E] array has no rows: got shape (0 x 3), need samples"));
}

TEST_P(Mat, RefusesTruncatedFiles) {
  std::vector<double> values(2000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i * i));
  const std::string path = write(mat_numbers<double>("X", {500, 4}, values));
  const auto size = std::filesystem::file_size(path);
  for (const double part : {0.9, 0.5, 0.1}) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(part * static_cast<double>(size)));
    ::testing::internal::CaptureStderr();
    EXPECT_THAT(refusal(path + ":X"), AllOf(HasSubstr("[" + path + "] file is damaged or cut short: got '"),
                                            HasSubstr("', need an intact file; fetch or write it again")))
        << part;
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
  }
}

TEST_P(Mat, ReadsNumbersAsLabels) {
  const double nan = std::nan("");
  const std::string path = write(mat_numbers<double>("column", {3, 1}, {1, nan, 0.5}),
                                 mat_numbers<std::uint8_t>("row", {1, 3}, {1, 2, 3}), three_by_two());
  EXPECT_THAT(labels(path, "column").text, ElementsAre("1", "", "0.5"));
  EXPECT_THAT(labels(path, "row").text, ElementsAre("1", "2", "3"));
  EXPECT_THAT(labels(path, "row'").text, ElementsAre("1", "2", "3"));
  EXPECT_EQ(labels(path, "row'").column, "row");
  EXPECT_EQ(labels(path, "row").path, path);
  EXPECT_THAT(labels(path + ":row", "").text, ElementsAre("1", "2", "3"));
  EXPECT_THAT(label_refusal(path, "X"), HasSubstr("labels are no vector: got 3 x 2, need n x 1 or 1 x n"));
  EXPECT_THAT(label_refusal(path + ":X", "c0"), HasSubstr("labels named twice: got column 'c0' of X, need a vector"));
}

TEST_P(Mat, ReadsTextsAsLabels) {
  const std::string path = write(mat_cells_of("cells", mat_chars(nullptr, {u"ill"}), mat_chars(nullptr, {u""}),
                                              mat_chars(nullptr, {u"\u00fc\u20ac\U0001F600"})),
                                 mat_chars("rows", {u"ab  ", u"abcd"}));
  EXPECT_THAT(labels(path, "cells").text, ElementsAre("ill", "", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"));
  EXPECT_THAT(labels(path, "rows").text, ElementsAre("ab", "abcd"));
  EXPECT_THAT(labels(path, "cells{1}").text, ElementsAre("ill"));
}

TEST_P(Mat, RefusesCellsThatHoldNoText) {
  const std::string mixed = write(mat_cells_of("Y", mat_chars(nullptr, {u"a"}), three_by_two(nullptr)));
  EXPECT_THAT(label_refusal(mixed, "Y"),
              HasSubstr("label is no text: got 3 x 2 double in cell 2, need a text in each"));
  const std::string numbers = write(mat_cells_of("Y", three_by_two(nullptr)));
  EXPECT_THAT(label_refusal(numbers, "Y"), HasSubstr("not a matrix of numbers: got 1 x 1 cell"));
}

TEST_P(Mat, TakesTheOnlyLabelsOfAFile) {
  const std::string path =
      write(mat_cells_of("X", three_by_two(nullptr)), three_by_two("Z"), mat_numbers<double>("Y", {3, 1}, {1, 2, 3}));
  EXPECT_EQ(labels(path, "").column, "Y");
  EXPECT_THAT(mat_label_columns(path, {}), ElementsAre("Y"));
  EXPECT_THAT(mat_label_columns(path + ":X{1}", {}), ElementsAre("X{1}"));
  EXPECT_THAT(label_refusal(write(three_by_two()), ""), HasSubstr("nothing to read: got X (3 x 2 double), need"));
}

TEST_P(Mat, IsReadByManyThreads) {
  const std::string path = write(three_by_two(), mat_cells_of("C", three_by_two(nullptr)));
  const std::string cut = dir_.file("cut.mat");
  std::filesystem::copy_file(path, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 8);
  std::array<int, 8> as_alone{};
  std::vector<std::thread> threads;
  for (int& count : as_alone) {
    threads.emplace_back([&count, path, cut] {
      for (int i = 0; i < 50; ++i) {
        // What one thread's file lacks must not be held against another's.
        const bool refused = refusal(cut + ":X").find("cut short") != std::string::npos;
        const std::string error = refusal(path + (i % 2 == 0 ? ":X" : ":C{1}"));
        count += refused && error == "(nothing was thrown)" ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(as_alone, ::testing::Each(50));
}

TEST(MatFile, RefusesOtherFiles) {
  const TempDir dir;
  for (const std::string& bytes :
       {std::string("x,y\n1,2\n"), std::string(4000, '\0'), std::string("\x89HDF\r\n\x1a\n")}) {
    const std::string path = dir.write("a.mat", bytes);
    EXPECT_THAT(refusal(path + ":X"),
                HasSubstr("[" + path + "] not a MATLAB file: got other data, need a .mat file of"));
  }
}

}  // namespace
}  // namespace tocca::detail
