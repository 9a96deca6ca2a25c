#include "tocca/data/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tocca {
namespace {

TEST(Text, ReadsNumbers) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number(" +2e3\t"), 2000.0);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  EXPECT_EQ(parse_number("-Inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_number("-nan").value_or(0)));
}

TEST(Text, RefusesWhatIsNotWhollyANumber) {
  for (const char* cell :
       {"", " ", "x", "1x", "1,5", "1 2", "+-1", "++1", "+", "-", "0x10", "nan(1)", "1e", "1e999x"}) {
    EXPECT_EQ(parse_number(cell), std::nullopt) << cell;
  }
}

TEST(Text, KnowsMissingCells) {
  for (const char* cell : {"", "  ", "NA", "na", "NaN", " nan ", "Na"}) EXPECT_TRUE(is_missing(cell)) << cell;
  for (const char* cell : {"0", "-1", "N", "none", "NAN1", "inf"}) EXPECT_FALSE(is_missing(cell)) << cell;
}

TEST(Text, WritesNumbersShort) {
  EXPECT_EQ(number_text(7), "7");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-1), "-1");
}

TEST(Text, NamesTheFirstFew) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  EXPECT_EQ(name_some(names, 2), "a, b and 2 more");
  EXPECT_EQ(name_some(names, 3), "a, b, c, d");
  EXPECT_EQ(name_some({}, 3), "");
}

TEST(Text, TrimsAndLowers) {
  EXPECT_EQ(trimmed(" \ta b "), "a b");
  EXPECT_EQ(trimmed("   "), "");
  EXPECT_EQ(lower_case("Sample-ID"), "sample-id");
}

}  // namespace
}  // namespace tocca
