#include "tocca/data/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using Texts = std::vector<std::vector<std::string>>;

TEST(MakeTarget, ReadsNumbersAndLeavesGaps) {
  const Target target =
      make_target(TargetKind::regression, {"age", "weight"}, Texts{{"3", "NA", "-1"}, {"", "nan", "2.5"}});
  EXPECT_EQ(target.name(), "age,weight");
  EXPECT_EQ(target.size(), 3);
  EXPECT_EQ(target.values(0, 0), 3);
  EXPECT_TRUE(std::isnan(target.values(0, 1)));
  EXPECT_EQ(target.values(2, 0), -1);  // a number like any other
  EXPECT_EQ(target.known(), 2);
  EXPECT_FALSE(target.known(1));
  const std::vector<Index> chosen{2, 2, 1};
  EXPECT_EQ(target.select(chosen).values(1, 1), 2.5);
}

TEST(MakeTarget, ReadsYesAndNoInManyWords) {
  const Target target =
      make_target(TargetKind::multilabel, {"a"}, Texts{{"1", "0", "Yes", "no", "TRUE", "False", "", "1.0"}});
  const std::vector<double> expected{1, 0, 1, 0, 1, 0, std::nan(""), 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = target.values(static_cast<Index>(i), 0);
    EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(value) : value == expected[i]) << i;
  }
}

TEST(MakeTarget, SurvivalNeedsTimeAndEvent) {
  const Target target =
      make_target(TargetKind::survival, {"time", "event"}, Texts{{"5", "2", "", "4"}, {"1", "0", "1", ""}});
  EXPECT_EQ(target.known(), 2);  // both must be there
  EXPECT_FALSE(target.known(2));
  EXPECT_FALSE(target.known(3));
}

TEST(MakeTarget, ClassesAreLabels) {
  const Target target = make_target(TargetKind::classification, {"er"}, Texts{{"neg", "pos", "-1", "pos"}});
  EXPECT_EQ(target.labels.codes, (std::vector<int>{0, 1, -1, 1}));
  EXPECT_EQ(target.known(), 3);
}

TEST(MakeTarget, SaysWhereAndWhatIsWrong) {
  const auto message = [](TargetKind kind, std::vector<std::string> columns, Texts texts) {
    return error_message<InputError>([&] { make_target(kind, columns, texts); });
  };
  EXPECT_THAT(message(TargetKind::regression, {"age"}, {{"3", "old"}}), HasSubstr("column 'age', row 2: got 'old'"));
  EXPECT_THAT(message(TargetKind::regression, {"age"}, {{"inf"}}), HasSubstr("need a finite number"));
  EXPECT_THAT(message(TargetKind::survival, {"t", "e"}, {{"-2"}, {"1"}}), HasSubstr("column 't', row 1: got '-2'"));
  EXPECT_THAT(message(TargetKind::survival, {"t", "e"}, {{"2"}, {"2"}}), HasSubstr("column 'e', row 1: got '2'"));
  EXPECT_THAT(message(TargetKind::multilabel, {"a"}, {{"maybe"}}), HasSubstr("need 1, 0, yes, no"));
  EXPECT_THAT(message(TargetKind::survival, {"t"}, {{"2"}}), HasSubstr("a time and an event"));
  EXPECT_THAT(message(TargetKind::classification, {"a", "b"}, {{"2"}, {"2"}}), HasSubstr("need one"));
  EXPECT_THAT(message(TargetKind::regression, {}, {}), HasSubstr("at least one"));
}

TEST(TargetKind, NamesReadBack) {
  for (const TargetKind kind :
       {TargetKind::classification, TargetKind::regression, TargetKind::survival, TargetKind::multilabel}) {
    EXPECT_EQ(parse_target_kind(name_of(kind)), kind);
  }
  EXPECT_THAT(error_message<InputError>([] { parse_target_kind("regresion"); }), HasSubstr("did you mean regression"));
}

}  // namespace
}  // namespace tocca
