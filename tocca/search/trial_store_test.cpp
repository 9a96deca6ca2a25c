#include "tocca/search/trial_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <tuple>

#include "tocca/core/error.h"
#include "tocca/core/version.h"
#include "tocca/search/test_trials.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

namespace fs = std::filesystem;
using testing::edit;
using ::testing::ElementsAre;
using testing::error_message;
using testing::expect_same;
using testing::fold;
using testing::full_fold;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kAll;
using testing::kInfinity;
using testing::kNaN;
using testing::new_trial;
using testing::numbered;
using ::testing::Pair;
using testing::same;
using ::testing::SizeIs;
using testing::TempDir;

TEST(TrialStore, EverythingComesBack) {
  const TempDir dir;
  const std::string path = dir.file("a.db");
  const NamedTexts description{{"zeta", "1"}, {"metric", "it's \"ü\" 日本"}, {"empty", ""}};
  const NamedTexts settings{{"rate", "0.001"}, {"activation", "μ"}, {"alpha", ""}};
  {
    TrialStore store(path);
    const auto study = store.study("Größe", description);
    const NewTrial trial{.number = 3, .rung = 2, .settings = settings, .seed = UINT64_MAX};
    store.add(study, {&trial, 1});
    const auto claim = store.claim(study, 2, kAll);
    ASSERT_TRUE(claim);
    EXPECT_TRUE(store.keep_fold(*claim, full_fold(4)));
    EXPECT_TRUE(store.keep_fold(*claim, full_fold(0)));
    EXPECT_TRUE(store.finish(*claim));
  }
  const TrialStore store(path);
  EXPECT_THAT(store.studies(), ElementsAre(Pair("Größe", description)));
  const auto trials = store.trials(*store.find_study("Größe"), true);
  ASSERT_THAT(trials, SizeIs(1));
  EXPECT_EQ(trials[0].number, 3);
  EXPECT_EQ(trials[0].rung, 2);
  EXPECT_EQ(trials[0].state, TrialState::finished);
  EXPECT_EQ(trials[0].settings, settings);
  EXPECT_EQ(trials[0].seed, UINT64_MAX);
  EXPECT_EQ(trials[0].version, version());
  ASSERT_THAT(trials[0].folds, SizeIs(2));
  expect_same(trials[0].folds[0], full_fold(0));
  expect_same(trials[0].folds[1], full_fold(4));
  EXPECT_THAT(store.trials(1)[0].folds[0].history, IsEmpty());
  EXPECT_THAT(store.trials(1)[0].folds[0].scores, SizeIs(3));
}

TEST(TrialStore, AFoldReplacesTheOneOfItsNumber) {
  TrialStore store("");
  const auto study = store.study("s", {});
  store.add(study, numbered(1));
  const auto claim = store.claim(study, 0, kAll);
  store.keep_fold(*claim, full_fold(1));
  store.keep_fold(*claim, fold(1, 0.5));
  const auto folds = store.trials(study, true)[0].folds;
  ASSERT_THAT(folds, SizeIs(1));
  expect_same(folds[0], fold(1, 0.5));
}

TrialRecord finished_with(const std::vector<FoldRecord>& folds) {
  TrialStore store("");
  const auto study = store.study("s", {});
  store.add(study, numbered(1));
  const auto claim = store.claim(study, 0, kAll);
  for (const auto& record : folds) store.keep_fold(*claim, record);
  store.finish(*claim);
  return store.trials(study)[0];
}

TEST(TrialStore, TheValueIsTheMeanOverTheFolds) {
  const auto trial = finished_with({fold(0, 1, 10), fold(1, 2, 20), fold(2, 6, 30)});
  EXPECT_DOUBLE_EQ(trial.value, 3);
  EXPECT_DOUBLE_EQ(trial.standard_error, std::sqrt(7.0 / 3));
  EXPECT_DOUBLE_EQ(trial.seconds, 60);
  EXPECT_TRUE(std::isnan(finished_with({fold(0, 1)}).standard_error));
  EXPECT_EQ(finished_with({fold(0, 1)}).value, 1);
  EXPECT_EQ(finished_with({fold(0, -kInfinity)}).value, -kInfinity);
}

TEST(TrialStore, AFoldThatCouldNotBeMeasuredMakesTheValueUnknown) {
  const auto trial = finished_with({fold(0, 1, 10), fold(1, kNaN, 20), fold(2, 2, 30)});
  EXPECT_TRUE(std::isnan(trial.value));
  EXPECT_TRUE(std::isnan(trial.standard_error));
  EXPECT_DOUBLE_EQ(trial.seconds, 60);
  EXPECT_TRUE(std::isnan(finished_with({}).value));
}

TEST(TrialStore, GoesOnAfterReopening) {
  const TempDir dir;
  const std::string path = dir.file("a.db");
  {
    TrialStore store(path);
    const auto study = store.study("s", {{"k", "v"}});
    store.add(study, numbered(3));
    store.finish(*store.claim(study, 0, kAll));
    const auto claim = store.claim(study, 0, kAll);
    store.keep_fold(*claim, fold(0, 0.25));  // and ends without having finished
  }
  TrialStore store(path);
  const auto study = store.study("s", {{"k", "v"}});
  EXPECT_EQ(store.trials(study)[1].state, TrialState::waiting);
  EXPECT_EQ(store.unfinished(study, 0, kAll), 2);
  EXPECT_EQ(store.unfinished(study, 0, 2), 1);
  const auto claim = store.claim(study, 0, kAll);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->record.number, 1);
  EXPECT_EQ(claim->record.state, TrialState::running);
  ASSERT_THAT(claim->record.folds, SizeIs(1));
  expect_same(claim->record.folds[0], fold(0, 0.25));
}

TEST(TrialStore, AStudyHasOneDescription) {
  const TempDir dir;
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(store.study("s", {{"a", "1"}, {"b", "2"}}), study);
  EXPECT_NE(store.study("other", {{"a", "2"}}), study);
  EXPECT_EQ(store.find_study("s"), study);
  EXPECT_EQ(store.find_study("none"), std::nullopt);
  const auto refused = [&](const NamedTexts& description) {
    return error_message<InputError>([&] { store.study("s", description); });
  };
  EXPECT_EQ(refused({{"a", "1"}, {"b", "3"}}), "[" + store.path() +
                                                   "] study 's' is there with another b: got '3', need '2'; choose "
                                                   "another store (or, in a search, --study), or repeat what "
                                                   "it was begun with");
  EXPECT_THAT(refused({{"a", "1"}}), HasSubstr("with another b: got none, need '2'"));
  EXPECT_THAT(refused({{"a", "1"}, {"c", ""}, {"b", "2"}}), HasSubstr("with another c: got '', need none"));
  EXPECT_THAT(store.studies(), SizeIs(2));
  // A long value is shown where it differs, and not from its start.
  const std::string same(500, '-');
  store.study("long", {{"space", same + "epochs = 5" + same}});
  EXPECT_THAT(error_message<InputError>([&] {
                store.study("long", {{"space", same + "epochs = 7" + same}});
              }),
              ::testing::AllOf(HasSubstr("7---"), HasSubstr("5---")));
}

TEST(TrialStore, AddingLeavesWhatIsThere) {
  TrialStore store("");
  const auto study = store.study("s", {});
  store.add(study, numbered(2));
  const auto claim = store.claim(study, 0, kAll);
  store.keep_fold(*claim, fold(0, 0.5));
  store.finish(*claim);
  std::vector<NewTrial> again = numbered(3);
  for (auto& trial : again) trial.settings = {{"new", "1"}};
  store.add(study, again);
  const auto trials = store.trials(study);
  ASSERT_THAT(trials, SizeIs(3));
  EXPECT_EQ(trials[0].state, TrialState::finished);
  EXPECT_THAT(trials[0].folds, SizeIs(1));
  EXPECT_THAT(trials[0].settings, IsEmpty());
  EXPECT_THAT(trials[1].settings, IsEmpty());
  EXPECT_THAT(trials[2].settings, SizeIs(1));
}

TEST(TrialStore, TheLowestNumberBelowTheLimitOfTheRungComesFirst) {
  TrialStore store("");
  const auto study = store.study("s", {});
  const auto other = store.study("other", {});
  store.add(other, numbered(1));
  const std::vector<NewTrial> trials{new_trial(2), new_trial(0, 1), new_trial(1), new_trial(5)};
  store.add(study, trials);
  const auto next = [&](Index rung, Index limit) {
    const auto claim = store.claim(study, rung, limit);
    return claim ? claim->record.number : -1;
  };
  EXPECT_EQ(next(0, 5), 1);
  EXPECT_EQ(next(0, 5), 2);
  EXPECT_EQ(next(0, 5), -1);
  EXPECT_EQ(next(1, 5), 0);
  EXPECT_EQ(next(0, 6), 5);
  std::vector<Index> order;
  for (const auto& trial : store.trials(study)) order.push_back(trial.rung * 10 + trial.number);
  EXPECT_THAT(order, ElementsAre(1, 2, 5, 10));
}

TEST(TrialStore, AClaimEndsOnce) {
  TrialStore store("");
  const auto study = store.study("s", {});
  store.add(study, numbered(2));
  const auto released = store.claim(study, 0, kAll);
  store.keep_fold(*released, fold(0, 1));
  EXPECT_TRUE(store.release(*released));
  EXPECT_FALSE(store.release(*released));
  EXPECT_FALSE(store.keep_fold(*released, fold(1, 1)));
  const auto failed = store.claim(study, 0, kAll);
  EXPECT_EQ(failed->record.number, 0);
  EXPECT_TRUE(store.fail(*failed, "out of memory"));
  EXPECT_FALSE(store.finish(*failed));
  EXPECT_FALSE(store.fail(*failed, "again"));
  const auto trial = store.trials(study)[0];
  EXPECT_EQ(trial.state, TrialState::failed);
  EXPECT_EQ(trial.reason, "out of memory");
  EXPECT_THAT(trial.folds, SizeIs(1));
  EXPECT_EQ(store.claim(study, 0, kAll)->record.number, 1);
  EXPECT_EQ(store.unfinished(study, 0, kAll), 1);
}

}  // namespace
}  // namespace tocca
