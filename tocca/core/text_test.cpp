#include "tocca/core/text.h"

#include <gtest/gtest.h>

#include <array>

namespace tocca {
namespace {

using Names = std::vector<std::string>;

TEST(Join, PutsTheSeparatorBetweenItemsOnly) {
  EXPECT_EQ(join(Names{}, ", "), "");
  EXPECT_EQ(join(Names{"a"}, ", "), "a");
  EXPECT_EQ(join(std::array<std::string_view, 3>{"a", "b", "c"}, ", "), "a, b, c");
}

TEST(NearestNames, OrdersByEditDistance) {
  const Names known = {"cca", "rcca", "dcca", "softcca", "tocca-w", "tocca-sd", "tocca-nd"};
  EXPECT_EQ(nearest_names("tocca-x", known), (Names{"tocca-w", "tocca-sd", "tocca-nd"}));
  EXPECT_EQ(nearest_names("dccaa", known), (Names{"dcca", "cca", "rcca"}));
  EXPECT_EQ(nearest_names("dccaa", known, 1), (Names{"dcca"}));
}

TEST(NearestNames, IgnoresCase) { EXPECT_EQ(nearest_names("DCCA", Names{"xxxx", "dcca"}), (Names{"dcca"})); }

TEST(NearestNames, OffersNothingFarOff) {
  EXPECT_TRUE(nearest_names("perceptron", Names{"cca", "tocca-w"}).empty());
  EXPECT_TRUE(nearest_names("", Names{"a", "ab"}).empty());
  EXPECT_TRUE(nearest_names("cca", Names{}).empty());
}

TEST(UnknownName, OffersNearNamesAndListsAll) {
  EXPECT_EQ(unknown_name("method", "tocca-x", Names{"cca", "tocca-w", "tocca-nd"}),
            "unknown method 'tocca-x': did you mean tocca-w, tocca-nd? Known: cca, tocca-w, tocca-nd");
  EXPECT_EQ(unknown_name("view", "sound", Names{"left", "right"}), "unknown view 'sound'. Known: left, right");
  EXPECT_EQ(unknown_name("view", "sound", Names{}), "unknown view 'sound'. Known: none");
}

}  // namespace
}  // namespace tocca
