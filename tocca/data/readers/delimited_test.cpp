#include "tocca/data/readers/delimited.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "tocca/core/error.h"
#include "tocca/data/readers/test_gzip.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::detail {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct DelimitedTest : ::testing::Test {
  TableFile read(std::string_view text, const ReadOptions& options = {}) const {
    return read_delimited(dir.write("a.csv", text), ',', options);
  }
  LabelColumn read_labels(std::string_view text, const std::string& column, const ReadOptions& options = {}) const {
    return read_delimited_labels(dir.write("a.csv", text), ',', column, options);
  }
  /// The message for that text, without the directory.
  std::string refusal(std::string_view text, const ReadOptions& options = {}) const {
    return "[" + without_directory(error_message<InputError>([&] { read(text, options); }));
  }
  std::string label_refusal(std::string_view text, const std::string& column) const {
    return "[" + without_directory(error_message<InputError>([&] { read_labels(text, column); }));
  }
  std::string without_directory(const std::string& message) const {
    const std::size_t directory = dir.file("").size() + 1;
    return message.size() > directory ? message.substr(directory) : message;
  }

  testing::TempDir dir;
};

TEST_F(DelimitedTest, ReadsIdsNamesAndNumbers) {
  const TableFile file = read("sample,x,\"y, z\"\ns1,1,2.5\ns2,-3e2, +4 \n");
  EXPECT_THAT(file.features, ElementsAre("x", "y, z"));
  EXPECT_THAT(file.ids, ElementsAre("s1", "s2"));
  EXPECT_EQ(file.values.rows(), 2);
  EXPECT_EQ(file.values.columns(), 2);
  EXPECT_EQ(file.values.at(0, 1), 2.5);
  EXPECT_EQ(file.values.at(1, 0), -300);
  EXPECT_EQ(file.values.at(1, 1), 4);
  EXPECT_NE(file.values.contiguous<double>(), nullptr);
}

TEST_F(DelimitedTest, KnowsIdColumnsByName) {
  for (const char* name : {"sample", "id", "ID", "Sample", "", "\"\""}) {
    const TableFile file = read(std::string(name) + ",x\n7,1\n8,2\n");
    EXPECT_THAT(file.ids, ElementsAre("7", "8")) << name;
    EXPECT_THAT(file.features, ElementsAre("x")) << name;
  }
  EXPECT_THAT(read("x,id\n7,1\n").ids, IsEmpty());
  EXPECT_THAT(read("samples,x\n7,1\n").features, ElementsAre("samples", "x"));
}

TEST_F(DelimitedTest, TakesTheIdColumnAskedFor) {
  const TableFile file = read("sample,patient,x\n1,p1,5\n2,p2,6\n", {.id_column = "patient"});
  EXPECT_THAT(file.ids, ElementsAre("p1", "p2"));
  EXPECT_THAT(file.features, ElementsAre("sample", "x"));
  EXPECT_EQ(file.values.at(1, 1), 6);
  EXPECT_EQ(refusal("sample,x\n1,5\n", {.id_column = "patient"}),
            "[a.csv] id column not found: got 'patient', need one of sample, x; check --id");
  EXPECT_EQ(refusal("1,5\n", {.id_column = "patient"}),
            "[a.csv] id column not found: got 'patient', need a header line; check --id");
}

TEST_F(DelimitedTest, ReadsFilesWithoutHeader) {
  const TableFile file = read("1,2,NA\n,5,6\n");
  EXPECT_THAT(file.features, ElementsAre("c0", "c1", "c2"));
  EXPECT_THAT(file.ids, IsEmpty());
  EXPECT_EQ(file.values.rows(), 2);
  EXPECT_TRUE(std::isnan(file.values.at(0, 2)));
  EXPECT_TRUE(std::isnan(file.values.at(1, 0)));
}

TEST_F(DelimitedTest, KnowsTheHeaderOfAFrameWithoutColumnNames) {
  const TableFile file = read(",0,1\n0,5.5,6\n1,7,8\n");
  EXPECT_THAT(file.features, ElementsAre("0", "1"));
  EXPECT_THAT(file.ids, ElementsAre("0", "1"));
  EXPECT_EQ(read(",0,2\n0,5.5,6\n").values.rows(), 2);
}

TEST_F(DelimitedTest, ReadsMissingValues) {
  const TableFile file = read("x,y,z\n,NA,nan\nna,NaN,\"\"\n1,2,3\n");
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(file.values.at(i, j))) << i << " " << j;
  }
  EXPECT_EQ(file.values.at(2, 2), 3);
}

TEST_F(DelimitedTest, ReadsWhatSpreadsheetsWrite) {
  const TableFile file = read("\xef\xbb\xbfsample,x\r\ns1,\"1\"\r\n\r\ns2,2\r\n\r\n");
  EXPECT_THAT(file.ids, ElementsAre("s1", "s2"));
  EXPECT_EQ(file.values.at(0, 0), 1);
  EXPECT_EQ(read("x,,y\n1,2,3").features[1], "c1");
  EXPECT_EQ(refusal(std::string_view("\xff\xfex\0,\0", 6)),
            "[a.csv] not a UTF-8 text: got UTF-16, need UTF-8; save it as CSV in UTF-8");
}

TEST_F(DelimitedTest, TakesBlankLinesOfOneColumnForMissing) {
  const TableFile file = read("x\n1\n\n3\n");
  EXPECT_EQ(file.values.rows(), 3);
  EXPECT_TRUE(std::isnan(file.values.at(1, 0)));
  EXPECT_THAT(read_labels("y\na\n\n", "").text, ElementsAre("a", ""));
}

TEST_F(DelimitedTest, ReadsTabsAndGzip) {
  const TableFile tabs = read_delimited(dir.write("a.tsv", "id\tx\na,b\t1\n"), '\t', {});
  EXPECT_THAT(tabs.ids, ElementsAre("a,b"));
  const TableFile packed = read_delimited(dir.write("a.csv.gz", testing::gzip("x,y\n1,2\n")), ',', {});
  EXPECT_EQ(packed.values.at(0, 1), 2);
}

TEST_F(DelimitedTest, NamesRowsOfTheWrongLength) {
  EXPECT_THAT(refusal("x,y\n1,2\n\"\n\",1\n3\n"), StartsWith("[a.csv:3] not a number in column 'x'"));
  EXPECT_EQ(
      refusal("x,y\n1,2\n3\n"),
      "[a.csv:3] row of the wrong length: got 1 fields, need 2 as in the first line; add or remove delimiters, or "
      "quote fields that hold one");
  EXPECT_THAT(refusal("x,y\n\n1,2,3\n"), StartsWith("[a.csv:3] row of the wrong length: got 3 fields, need 2"));
}

TEST_F(DelimitedTest, NamesWhatIsNotANumber) {
  EXPECT_EQ(refusal("sample,x,y\ns1,1,2\ns2,3,high\n"),
            "[a.csv:3] not a number in column 'y': got 'high', need a number, or nothing or NA where it is missing; "
            "correct the cell, or name a column of sample ids with --id");
  EXPECT_THAT(refusal("1,2\n3,\"1,5\"\n"), StartsWith("[a.csv:2] not a number in column 'c1': got '1,5', need"));
}

TEST_F(DelimitedTest, RefusesTablesWithoutRowsOrColumns) {
  EXPECT_EQ(refusal("sample,x,y\n"),
            "[a.csv] no rows: got a header of 3 columns only, need a row for each sample; check how it was written");
  EXPECT_EQ(label_refusal("sample,x\n", "x"),
            "[a.csv] no rows: got a header of 2 columns only, need a row for each sample; check how it was written");
  EXPECT_THAT(refusal("\n \n"), StartsWith("[a.csv] file is empty: got blank lines only, need a table"));
  EXPECT_THAT(refusal("\xef\xbb\xbf"), StartsWith("[a.csv] file is empty"));
  EXPECT_EQ(refusal("sample\ns1\n"),
            "[a.csv] no columns: got sample ids only, need at least one more column; check the file");
}

TEST_F(DelimitedTest, NamesRepeatedColumnsAndAbsentIds) {
  EXPECT_EQ(refusal("x,y,x\n1,2,3\n"),
            "[a.csv:1] column name occurs twice: got a second 'x', need distinct names; rename one of them");
  EXPECT_EQ(refusal("sample,x\ns1,1\n,2\n"),
            "[a.csv:3] sample without an id: got an empty field, need an id; fill it in");
}

TEST_F(DelimitedTest, ReadsOneColumnOfLabels) {
  const LabelColumn labels = read_labels("sample,age,group\ns1,30,\"a, b\"\ns2,,c \ns3,50,\n", "group");
  EXPECT_EQ(labels.column, "group");
  EXPECT_THAT(labels.text, ElementsAre("a, b", "c", ""));
  EXPECT_THAT(labels.ids, ElementsAre("s1", "s2", "s3"));
  EXPECT_THAT(read_labels("digit\n0\n1\n", "").text, ElementsAre("0", "1"));
  EXPECT_THAT(read_labels("1,7\n2,8\n", "c1").text, ElementsAre("7", "8"));
}

TEST_F(DelimitedTest, ListsLabelColumns) {
  const std::string text = "sample,age,group\ns1,30,a\n";
  EXPECT_EQ(label_refusal(text, "sex"),
            "[a.csv] label column not found: got 'sex', need one of age, group; check the name");
  EXPECT_EQ(label_refusal(text, ""), "[a.csv] label column not chosen: got 2 columns (age, group), need one; write " +
                                         dir.file("a.csv") + ":COLUMN");
}

}  // namespace
}  // namespace tocca::detail
