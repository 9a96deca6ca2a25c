#include "tocca/data/readers/row_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca::detail {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

Rows split(std::string text, char delimiter = ',') {
  RowScanner scanner(text, delimiter, "a.csv");
  std::vector<std::string_view> fields;
  Rows rows;
  while (scanner.next(fields)) rows.emplace_back(fields.begin(), fields.end());
  return rows;
}

TEST(RowScanner, SplitsPlainRows) {
  EXPECT_EQ(split("a,b\n1,2\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(split("a,b\n1,2"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(split("a\tb,c\n", '\t'), (Rows{{"a", "b,c"}}));
}

TEST(RowScanner, KeepsEmptyFieldsAndBlankLines) {
  EXPECT_EQ(split(",\n,,"), (Rows{{"", ""}, {"", "", ""}}));
  EXPECT_EQ(split("a\n\nb\n"), (Rows{{"a"}, {""}, {"b"}}));
}

TEST(RowScanner, EndsLinesInEveryWay) {
  EXPECT_EQ(split("a,b\r\n1,\r\n"), (Rows{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(split("a,b\r1,2\r"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(split("\"a\"\r\n\"b\"\n"), (Rows{{"a"}, {"b"}}));
}

TEST(RowScanner, UnquotesFields) {
  EXPECT_EQ(split("\"a,b\",\"c\"\n"), (Rows{{"a,b", "c"}}));
  EXPECT_EQ(split("\"say \"\"hi\"\"\",\"\"\n"), (Rows{{"say \"hi\"", ""}}));
  EXPECT_EQ(split("\"two\nlines\"\"\n\",x\n"), (Rows{{"two\nlines\"\n", "x"}}));
  EXPECT_EQ(split("\"a\" ,b\n5\" pipe,c"), (Rows{{"a", "b"}, {"5\" pipe", "c"}}));
}

TEST(RowScanner, CountsLinesWithinQuotes) {
  std::string text = "a\r\n\"x\r\ny\r\nz\"\r\nb\r\n";
  RowScanner scanner(text, ',', "a.csv");
  std::vector<std::string_view> fields;
  std::vector<Index> lines;
  while (scanner.next(fields)) lines.push_back(scanner.line());
  EXPECT_THAT(lines, ElementsAre(1, 2, 5));
}

TEST(RowScanner, NamesTheLineOfABadQuote) {
  EXPECT_THAT(error_message<InputError>([] { split("a\n\"b\nc\n"); }),
              HasSubstr("[a.csv:2] quote is never closed: got the end of the file, need a closing quote"));
  EXPECT_THAT(error_message<InputError>([] { split("a\n\"b\"c\n"); }),
              HasSubstr("[a.csv:2] text after a closing quote: got 'c', need a delimiter"));
}

}  // namespace
}  // namespace tocca::detail
