#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/data/readers.h"
#include "tocca/testing/error_message.h"

namespace tocca {
namespace {

using ::testing::ElementsAre;
using testing::error_message;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Names = std::vector<std::string>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A view of one column whose values are the row numbers; the ids may be empty.
NamedTable table(const std::string& name, Index rows, Names ids = {}) {
  Matrix<double> values(rows, 1);
  for (Index i = 0; i < rows; ++i) values(i, 0) = static_cast<double>(i);
  return {name, {name + ".csv", Table(values), {"x"}, std::move(ids)}};
}

std::string refusal(const std::vector<NamedTable>& tables) {
  return error_message<InputError>([&] { join_views(tables); });
}

TEST(JoinViews, MatchesRowsWithoutIds) {
  JoinReport report;
  const Views views = join_views({table("a", 3), table("b", 3)}, &report);
  EXPECT_FALSE(report.by_id);
  EXPECT_THAT(report.messages, IsEmpty());
  EXPECT_THAT(views.samples, ElementsAre("0", "1", "2"));
  EXPECT_THAT(views.views[1].row_of_sample, ElementsAre(0, 1, 2));
  EXPECT_EQ(views.views[1].name, "b");
  EXPECT_THAT(views.views[1].features, ElementsAre("x"));
}

TEST(JoinViews, MatchesIdsInTheOrderOfTheFirstView) {
  JoinReport report;
  const Views views = join_views({table("a", 3, {"r", "s", "t"}), table("b", 4, {"v", "t", "r", "u"})}, &report);
  EXPECT_TRUE(report.by_id);
  EXPECT_THAT(views.samples, ElementsAre("r", "s", "t", "v", "u"));
  EXPECT_THAT(views.views[0].row_of_sample, ElementsAre(0, 1, 2, -1, -1));
  EXPECT_THAT(views.views[1].row_of_sample, ElementsAre(2, -1, 1, 0, 3));
  EXPECT_THAT(report.messages, ElementsAre("view 'a' (a.csv): samples of other views that it lacks: 2 (v, u)",
                                           "view 'b' (b.csv): samples of other views that it lacks: 1 (s)"));
}

TEST(JoinViews, TakesRowsWithoutValuesForMissing) {
  Matrix<double> values(3, 2);
  values << 1, kNaN, kNaN, kNaN, 2, 3;
  JoinReport report;
  const Views views = join_views({table("a", 3), {"b", {"b.csv", Table(values), {"x", "y"}, {}}}}, &report);
  EXPECT_THAT(views.views[1].row_of_sample, ElementsAre(0, -1, 2));
  EXPECT_THAT(report.messages, ElementsAre("view 'b' (b.csv): samples without any value, taken as missing: 1 (1)"));
}

TEST(JoinViews, LetsViewsBeLinkedByAThird) {
  const Views views = join_views({table("a", 1, {"r"}), table("b", 1, {"s"}), table("c", 2, {"s", "r"})});
  EXPECT_THAT(views.samples, ElementsAre("r", "s"));
}

TEST(JoinViews, NeedsNoSecondView) {
  EXPECT_THAT(join_views({table("a", 2, {"r", "s"})}).samples, ElementsAre("r", "s"));
  EXPECT_EQ(refusal({}), "[views] no views: got 0, need at least 1; name one with --view NAME=FILE");
}

TEST(JoinViews, RefusesDifferentCountsWithoutIds) {
  EXPECT_EQ(refusal({table("a", 3), table("b", 4)}),
            "[join] views have different numbers of samples: got 3 in 'a' and 4 in 'b', need equal numbers where files "
            "have no ids; add a first column 'sample' to each");
}

TEST(JoinViews, RefusesIdsInSomeFilesOnly) {
  EXPECT_EQ(
      refusal({table("a", 2), table("b", 2, {"r", "s"}), table("c", 2)}),
      "[join] some files have sample ids and others don't: got ids in b.csv and none in a.csv, c.csv, need ids in "
      "all or in none; add a first column 'sample', or name it with --id");
}

TEST(JoinViews, NamesRepeatedIds) {
  EXPECT_EQ(refusal({table("a", 2, {"r", "s"}), table("b", 4, {"r", "s", "r", "s"})}),
            "[b.csv] sample ids occur twice: got 2 repeated (r, s), need distinct ids; remove or rename the repeated "
            "rows");
}

TEST(JoinViews, RefusesAViewThatSharesNoSample) {
  EXPECT_EQ(
      refusal({table("a", 2, {"r", "s"}), table("b", 2, {"r", "s"}), table("c", 2, {"1", "2"})}),
      "[join] view 'c' has no sample in common with the others: got ids such as 1, 2 in c.csv, need ids as in the "
      "other files; check how samples are named");
}

TEST(JoinViews, RefusesRepeatedViewNames) {
  EXPECT_EQ(refusal({table("a", 2), table("a", 2)}),
            "[views] view name occurs twice: got 'a' for a.csv and a.csv, need distinct names; rename one of them");
}

TEST(JoinLabels, MatchesRowsWithoutIds) {
  const Views views = join_views({table("a", 2)});
  EXPECT_THAT(join_labels(views, {"y.csv", "y", {"p", ""}, {}}, false), ElementsAre("p", ""));
  EXPECT_EQ(error_message<InputError>([&] {
              join_labels(views, {"y.csv", "y", {"p"}, {}}, false);
            }),
            "[join] labels and views have different numbers of samples: got 1 in y.csv and 2 in the views, need equal "
            "numbers where files have no ids; add a first column 'sample' to each");
}

TEST(JoinLabels, MatchesIds) {
  const Views views = join_views({table("a", 3, {"r", "s", "t"})});
  JoinReport report;
  const LabelColumn labels{"y.csv", "y", {"p", "q", "o", "n"}, {"z", "t", "r", "w"}};
  EXPECT_THAT(join_labels(views, labels, true, &report), ElementsAre("o", "", "q"));
  EXPECT_THAT(report.messages, ElementsAre("labels (y.csv): samples that they lack, taken as unlabelled: 1 (s)",
                                           "labels (y.csv): ids that no view has, left out: 2 (z, w)"));
}

TEST(JoinLabels, NamesWhatDoesNotMatch) {
  const Views views = join_views({table("a", 2, {"r", "s"})});
  EXPECT_EQ(
      error_message<InputError>([&] {
        join_labels(views, {"y.csv", "y", {"p", "q"}, {"r", "r"}}, true);
      }),
      "[y.csv] sample ids occur twice: got 1 repeated (r), need distinct ids; remove or rename the repeated rows");
  EXPECT_EQ(error_message<InputError>([&] {
              join_labels(views, {"y.csv", "y", {"p"}, {"1"}}, true);
            }),
            "[join] labels have no sample in common with the views: got ids such as 1 in y.csv, need ids such as r, s; "
            "check how samples are named");
}

TEST(JoinLabels, RefusesIdsOnOneSideOnly) {
  const Views views = join_views({table("a", 1, {"r"})});
  EXPECT_THAT(error_message<InputError>([&] {
                join_labels(views, {"y.csv", "y", {"p"}, {}}, true);
              }),
              HasSubstr("got ids in the views and none in y.csv, need"));
  EXPECT_THAT(error_message<InputError>([&] {
                join_labels(views, {"y.csv", "y", {"p"}, {"r"}}, false);
              }),
              HasSubstr("got ids in y.csv and none in the views, need"));
}

}  // namespace
}  // namespace tocca
