#include "tocca/data/readers/mat_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::detail {
namespace {

using testing::error_message;
using ::testing::HasSubstr;
using testing::TempDir;

void expect_parses(const std::string& path, const MatPath& expected) {
  const MatPath parsed = parse_mat_path(path);
  EXPECT_EQ(parsed.file, expected.file) << path;
  EXPECT_EQ(parsed.variable, expected.variable) << path;
  EXPECT_EQ(parsed.cell, expected.cell) << path;
  EXPECT_EQ(parsed.transposed, expected.transposed) << path;
}

TEST(MatPath, NamesVariablesCellsAndTransposes) {
  expect_parses("d/a.mat", {"d/a.mat", "", 0, false});
  expect_parses("d/a.mat:X", {"d/a.mat", "X", 0, false});
  expect_parses("d/A.MAT:X{2}", {"d/A.MAT", "X", 2, false});
  expect_parses("a.mat:X(12)", {"a.mat", "X", 12, false});
  expect_parses("a.mat:X'", {"a.mat", "X", 0, true});
  expect_parses("a.mat:X{1}'", {"a.mat", "X", 1, true});
}

TEST(MatPath, LeavesOtherColonsAlone) {
  expect_parses("C:\\data\\a.mat", {"C:\\data\\a.mat", "", 0, false});
  expect_parses("C:\\data\\a.mat:X", {"C:\\data\\a.mat", "X", 0, false});
  expect_parses("run 10:15.mat", {"run 10:15.mat", "", 0, false});
  EXPECT_EQ(mat_file_of("a.csv:x"), "a.csv:x");
}

TEST(MatPath, TakesTheWholeForAFileThatExists) {
  const TempDir dir;
  const std::string path = dir.write("a.mat:b.csv", "x");
  EXPECT_EQ(mat_file_of(path), path);
  EXPECT_EQ(mat_file_of(dir.file("a.mat:c.csv")), dir.file("a.mat"));
}

TEST(MatPath, WritesWhatItReads) {
  EXPECT_EQ(parse_mat_path("a.mat:X(2)'").text(), "a.mat:X{2}'");
  EXPECT_EQ(parse_mat_path("a.mat:X(2)'").array(), "X{2}");
  EXPECT_EQ(parse_mat_path("a.mat:X").text(), "a.mat:X");
}

TEST(MatPath, RefusesWhatNamesNothing) {
  for (const char* path : {"a.mat:", "a.mat:'", "a.mat:{1}"}) {
    EXPECT_THAT(error_message<InputError>([&] { parse_mat_path(path); }),
                HasSubstr("[a.mat] no variable named: got '" + std::string(path).substr(6) + "', need a.mat:VAR"));
  }
  for (const char* cell : {"X{0}", "X{-1}", "X{}", "X{1,2}", "X(a)", "X}", "X{1)"}) {
    EXPECT_THAT(error_message<InputError>([&] { parse_mat_path(std::string("a.mat:") + cell); }),
                HasSubstr(std::string("[a.mat] cell not understood: got '") + cell + "', need a number from 1 on"));
  }
}

}  // namespace
}  // namespace tocca::detail
