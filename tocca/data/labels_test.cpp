#include "tocca/data/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

TEST(Labels, OrdersWordsAlphabetically) {
  const Labels labels = make_labels(Texts{"LumA", "Basal", "", "LumA ", "Her2"});
  EXPECT_THAT(labels.classes, ElementsAre("Basal", "Her2", "LumA"));
  EXPECT_THAT(labels.codes, ElementsAre(2, 0, -1, 2, 1));
  EXPECT_EQ(labels.labelled(), 4);
}

TEST(Labels, OrdersNumbersAsNumbersHoweverWritten) {
  const Labels labels = make_labels(Texts{"10", "9.0", "9", "2", "09", "-3", "-0", "0"});
  EXPECT_THAT(labels.classes, ElementsAre("-3", "0", "2", "9", "10"));
  EXPECT_THAT(labels.codes, ElementsAre(4, 3, 3, 2, 3, 0, 1, 1));
}

TEST(Labels, KeepsNumbersAmongWordsAsText) {
  const Labels labels = make_labels(Texts{"1", "1.0", "x"});
  EXPECT_THAT(labels.classes, ElementsAre("1", "1.0", "x"));
}

TEST(Labels, KnowsTheUnlabelled) {
  const Labels labels = make_labels(Texts{"", "NA", "na", "NaN", "nan", "-1", "-1.0", " ", "1"});
  EXPECT_THAT(labels.codes, ElementsAre(-1, -1, -1, -1, -1, -1, -1, -1, 0));
  EXPECT_THAT(make_labels(Texts{"", "-1"}).classes, IsEmpty());
}

TEST(Labels, ReadsAgainstKnownClasses) {
  EXPECT_THAT(make_labels(Texts{"b", "", "a"}, Texts{"b", "a", "c"}).codes, ElementsAre(0, -1, 1));
  EXPECT_THAT(make_labels(Texts{"2.0", "1"}, Texts{"1", "2"}).codes, ElementsAre(1, 0));
}

TEST(Labels, NamesAnUnknownClass) {
  const auto read = [] { make_labels(Texts{"a", "cat", "dog"}, Texts{"a", "b"}); };
  EXPECT_THAT(error_message<InputError>(read),
              HasSubstr("[labels] unknown class in row 2: got 'cat', need one of a, b, or nothing, NA or -1"));
}

TEST(Labels, Selects) {
  const Labels labels = make_labels(Texts{"a", "b", ""});
  const Labels some = labels.select(std::vector<Index>{2, 1, 1});
  EXPECT_THAT(some.codes, ElementsAre(-1, 1, 1));
  EXPECT_THAT(some.classes, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace tocca
