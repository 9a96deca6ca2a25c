#include "cli/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"
#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca::cli {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;

TEST(ParseView, SplitsAtTheFirstEqualsSign) {
  const NamedPath view = parse_view("left=data/a=b.csv");
  EXPECT_EQ(view.name, "left");
  EXPECT_EQ(view.path, "data/a=b.csv");
}

TEST(ParseView, RefusesWhatLacksAPart) {
  for (const char* text : {"left.csv", "=left.csv", "left=", "=", ""}) {
    EXPECT_THAT(error_message<InputError>([&] { parse_view(text); }), HasSubstr("need NAME=FILE")) << text;
  }
}

TEST(ParseLabels, SplitsAtTheLastColon) {
  EXPECT_EQ(parse_labels("dir/labels.csv:digit").path, "dir/labels.csv");
  EXPECT_EQ(parse_labels("dir/labels.csv:digit").column, "digit");
  EXPECT_EQ(parse_labels("a:b.csv:digit").path, "a:b.csv");
  EXPECT_EQ(parse_labels("labels.csv").path, "labels.csv");
  EXPECT_EQ(parse_labels("labels.csv").column, "");
}

TEST(ParseLabels, TakesTheWholeForAFileThatExists) {
  const tocca::testing::TempDir dir;
  const std::string path = dir.write("run 10:15.csv", "digit\n1\n");
  EXPECT_EQ(parse_labels(path).path, path);
  EXPECT_EQ(parse_labels(path).column, "");
  EXPECT_EQ(parse_labels(path + ":digit").path, path);
  EXPECT_EQ(parse_labels(path + ":digit").column, "digit");
}

TEST(ParseLabels, RefusesEmptyParts) {
  EXPECT_THAT(error_message<InputError>([] { parse_labels("labels.csv:"); }), HasSubstr("FILE:COLUMN"));
  EXPECT_THAT(error_message<InputError>([] { parse_labels(":digit"); }), HasSubstr("FILE:COLUMN"));
}

}  // namespace
}  // namespace tocca::cli
