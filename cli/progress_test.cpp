#include "cli/progress.h"

#include <gtest/gtest.h>

namespace tocca::cli {
namespace {

TEST(ProgressText, ShowsEpochTermsAndTimeLeft) {
  const Progress state{"train", 10, 40, {{"task", 0.41237}, {"val accuracy", 0.9}}};
  EXPECT_EQ(progress_text(state, 5, 100), "epoch 10 of 40, 15 s left  task 0.4124  val accuracy 0.9");
}

TEST(ProgressText, CountsTheEpochAtHand) {
  EXPECT_EQ(progress_text({"train", 10.5, 40, {}}, 0, 100), "epoch 11 of 40");
  EXPECT_EQ(progress_text({"fit", 10.5, 35, {}}, 0, 100), "fit 10 of 35");
}

TEST(ProgressText, IsCutToTheTerminal) {
  EXPECT_EQ(progress_text({"train", 10, 40, {{"task", 0.5}}}, 5, 30), "epoch 10 of 40, 15 s left  tas");
}

TEST(DurationText, TakesTheUnitThatReadsWell) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(99), "99 s");
  EXPECT_EQ(duration_text(120), "2 min");
  EXPECT_EQ(duration_text(4810), "1 h 20 min");
}

}  // namespace
}  // namespace tocca::cli
