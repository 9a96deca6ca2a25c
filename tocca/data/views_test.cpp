#include "tocca/data/views.h"

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

Views two_views() {
  Matrix<double> left(3, 1);
  left << 10, 11, 12;
  Matrix<double> right(2, 2);
  right << 20, 21, 22, 23;
  return {{"a", "b", "c"}, {{"left", {"x"}, Table(left), {0, 1, 2}}, {"right", {"y", "z"}, Table(right), {1, -1, 0}}}};
}

TEST(Views, CountsWhatIsPresent) {
  const Views views = two_views();
  EXPECT_EQ(views.size(), 3);
  EXPECT_EQ(views.count(), 2);
  EXPECT_EQ(views.views[0].present(), 3);
  EXPECT_EQ(views.views[1].present(), 2);
  EXPECT_FALSE(views.views[1].has(1));
}

TEST(Views, SelectsSamplesInTheOrderGiven) {
  const Views some = two_views().select(std::vector<Index>{2, 1, 2});
  EXPECT_THAT(some.samples, ElementsAre("c", "b", "c"));
  EXPECT_THAT(some.views[0].row_of_sample, ElementsAre(2, 1, 2));
  EXPECT_THAT(some.views[1].row_of_sample, ElementsAre(0, -1, 0));
  EXPECT_EQ(some.views[0].values.at(some.views[0].row_of_sample[0], 0), 12);
  EXPECT_THAT(some.views[1].features, ElementsAre("y", "z"));
}

TEST(Views, FindsAViewByName) {
  const Views views = two_views();
  EXPECT_EQ(&views.named("right"), &views.views[1]);
  EXPECT_THAT(error_message<InputError>([&] { static_cast<void>(views.named("middle")); }),
              HasSubstr("[views] there is no such view: got 'middle', need one of left, right; check the name"));
}

TEST(Dataset, SelectsViewsAndLabelsAlike) {
  Dataset data{two_views(), make_labels(std::vector<std::string>{"u", "v", "u"})};
  const Dataset some = data.select(std::vector<Index>{1, 0});
  EXPECT_THAT(some.views.samples, ElementsAre("b", "a"));
  EXPECT_THAT(some.labels.codes, ElementsAre(1, 0));
  data.labels = {};
  EXPECT_THAT(data.select(std::vector<Index>{1}).labels.codes, IsEmpty());
}

}  // namespace
}  // namespace tocca
