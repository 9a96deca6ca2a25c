#include "tocca/data/readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "tocca/core/error.h"
#include "tocca/data/readers/test_gzip.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using testing::gzip;
using ::testing::HasSubstr;
using testing::TempDir;

constexpr std::string_view kCsv = "sample,x\na,1\nb,2\n";
constexpr std::string_view kTsv = "sample\tx\na\t1\nb\t2\n";
const std::string kIdx("\0\0\x08\x02\0\0\0\x02\0\0\0\x01\x01\x02", 14);

TEST(Readers, GoByTheEndingOfTheName) {
  const TempDir dir;
  for (const std::string& path :
       {dir.write("a.csv", kCsv), dir.write("A.CSV", kCsv), dir.write("a.csv.gz", gzip(kCsv)), dir.write("a.tsv", kTsv),
        dir.write("a.tsv.gz", gzip(kTsv)), dir.write("a.idx", kIdx), dir.write("a.idx.gz", gzip(kIdx)),
        dir.write("a-idx3-ubyte", kIdx), dir.write("a-idx3-ubyte.gz", gzip(kIdx)), dir.write("a.idx3-ubyte", kIdx),
        dir.write("a-idx1-ubyte.gz", gzip(kIdx))}) {
    const TableFile file = read_table(path);
    EXPECT_EQ(file.path, path);
    ASSERT_EQ(file.values.rows(), 2) << path;
    EXPECT_EQ(file.values.at(1, 0), 2) << path;
  }
}

TEST(Readers, EveryFormatHasANameADescriptionAndItsOwnEndings) {
  std::set<std::string_view> endings;
  for (const ReaderFormat& format : reader_formats()) {
    EXPECT_FALSE(format.name.empty());
    EXPECT_FALSE(format.description.empty());
    EXPECT_FALSE(format.endings.empty());
    for (const std::string_view ending : format.endings) EXPECT_TRUE(endings.insert(ending).second) << ending;
  }
}

TEST(Readers, EveryFormatRefusesDamagedFilesByName) {
  const TempDir dir;
  for (const ReaderFormat& format : reader_formats()) {
    for (const std::string_view ending : format.endings) {
      const std::string path = dir.write("bad" + std::string(ending), "x,y\n\"");
      EXPECT_THAT(error_message<InputError>([&] { read_table(path); }), HasSubstr("[" + path)) << ending;
      EXPECT_THAT(error_message<InputError>([&] { read_labels(path, "x"); }), HasSubstr("[" + path)) << ending;
    }
  }
}

TEST(Readers, ListTheEndingsTheyKnow) {
  const TempDir dir;
  const std::string path = dir.write("a.xlsx", "PK");
  const std::string message = error_message<InputError>([&] { read_table(path); });
  EXPECT_THAT(message,
              HasSubstr("[" + path + "] unknown file type: got '" + path + "', need a name that ends in .csv, "));
  for (const ReaderFormat& format : reader_formats()) {
    for (const std::string_view ending : format.endings) EXPECT_THAT(message, HasSubstr(std::string(ending)));
  }
}

TEST(Readers, NameWhatIsNotAFile) {
  const TempDir dir;
  for (const std::string& path : {dir.file("none.csv"), dir.file("none.npy"), dir.file("none")}) {
    EXPECT_THAT(error_message<InputError>([&] { read_table(path); }), HasSubstr("[" + path + "] file not found"));
    EXPECT_THAT(error_message<InputError>([&] { read_labels(path, ""); }), HasSubstr("file not found"));
  }
  EXPECT_THAT(error_message<InputError>([&] { read_table(dir.path().string()); }), HasSubstr("is a directory"));
  EXPECT_THAT(error_message<InputError>([&] { read_table(dir.write("a.idx.gz", "")); }), HasSubstr("file is empty"));
}

TEST(ReadLabels, TakesNumbersAsText) {
  const TempDir dir;
  const LabelColumn labels = read_labels(dir.write("a-idx1-ubyte", kIdx), "");
  EXPECT_EQ(labels.column, "c0");
  EXPECT_THAT(labels.text, ElementsAre("1", "2"));
}

TEST(ReadLabels, TakesTextAndIdsFromDelimitedFiles) {
  const TempDir dir;
  const LabelColumn labels = read_labels(dir.write("a.tsv", "who\tgroup\nu\tx\nv\t\n"), "group", {.id_column = "who"});
  EXPECT_THAT(labels.text, ElementsAre("x", ""));
  EXPECT_THAT(labels.ids, ElementsAre("u", "v"));
}

TEST(ReadLabels, ListsTheColumnsOfArrays) {
  const TempDir dir;
  const std::string path = dir.write("a.idx", std::string("\0\0\x08\x02\0\0\0\x01\0\0\0\x02\x01\x02", 14));
  EXPECT_THAT(read_labels(path, "c1").text, ElementsAre("2"));
  EXPECT_THAT(error_message<InputError>([&] { read_labels(path, ""); }),
              HasSubstr("label column not chosen: got 2 columns (c0, c1), need one; write " + path + ":COLUMN"));
  EXPECT_THAT(error_message<InputError>([&] { read_labels(path, "y"); }),
              HasSubstr("label column not found: got 'y', need one of c0, c1; check the name"));
}

}  // namespace
}  // namespace tocca
