#include "tocca/report/table.h"

#include <gtest/gtest.h>

namespace tocca {
namespace {

TEST(Table, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(align({{"view", "samples", "file"}, {"left", "1000", "a.csv"}, {"right", "–", "long.csv"}}),
            "view   samples  file\n"
            "left      1000  a.csv\n"
            "right        –  long.csv\n");
}

TEST(Table, KeepsAColumnWithAWordFlushLeft) {
  EXPECT_EQ(align({{"value"}, {"10"}, {"all of it"}, {"-1.5"}}), "value\n10\nall of it\n-1.5\n");
}

TEST(Table, MeasuresCharactersNotBytes) {
  EXPECT_EQ(display_width("0.855 ± 0.003"), 13U);
  EXPECT_EQ(display_width("left → right"), 12U);
  EXPECT_EQ(display_width("\u8996\u754c"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
  EXPECT_EQ(align({{"näme", "x"}, {"abcdef", "y"}}), "näme    x\nabcdef  y\n");
}

TEST(Table, TakesRaggedRowsLineBreaksAndNothing) {
  EXPECT_EQ(align({{"a"}, {"b\nc", "d"}}), "a\nb c  d\n");
  EXPECT_EQ(align({{"", ""}}), "\n");
  EXPECT_EQ(align({}), "");
}

}  // namespace
}  // namespace tocca
