#include "tocca/search/trial_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/version.h"
#include "tocca/search/claim_owner.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_message;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::TempDir;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kAll = 1000;  // a limit above every trial's number

NewTrial new_trial(Index number, Index rung = 0) {
  NewTrial trial;
  trial.number = number;
  trial.rung = rung;
  return trial;
}

std::vector<NewTrial> numbered(Index count, Index rung = 0) {
  std::vector<NewTrial> trials;
  for (Index number = 0; number < count; ++number) trials.push_back(new_trial(number, rung));
  return trials;
}

FoldRecord fold(Index number, double value, double seconds = 0) {
  FoldRecord record;
  record.fold = number;
  record.value = value;
  record.seconds = seconds;
  return record;
}

// What another program, or a person with sqlite3, does to the file.
void edit(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10000).exec(sql);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_same(const EpochRecord& a, const EpochRecord& b) {
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_PRED2(same, a.terms.task, b.terms.task);
  EXPECT_PRED2(same, a.terms.agreement, b.terms.agreement);
  EXPECT_PRED2(same, a.terms.decorrelation, b.terms.decorrelation);
  EXPECT_PRED2(same, a.terms.reconstruction, b.terms.reconstruction);
  EXPECT_PRED2(same, a.terms.separation, b.terms.separation);
  EXPECT_PRED2(same, a.weight_decay, b.weight_decay);
  EXPECT_PRED2(same, a.validation_score, b.validation_score);
  EXPECT_PRED2(same, a.validation_loss, b.validation_loss);
  EXPECT_PRED2(same, a.sum_correlation, b.sum_correlation);
}

void expect_same(const Score& a, const Score& b) {
  EXPECT_EQ(a.train_view, b.train_view);
  EXPECT_EQ(a.test_view, b.test_view);
  EXPECT_EQ(a.metric, b.metric);
  EXPECT_PRED2(same, a.value, b.value);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.target, b.target);
}

void expect_same(const FoldRecord& a, const FoldRecord& b) {
  EXPECT_EQ(a.fold, b.fold);
  EXPECT_PRED2(same, a.value, b.value);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.best_epoch, b.best_epoch);
  EXPECT_PRED2(same, a.seconds, b.seconds);
  ASSERT_EQ(a.scores.size(), b.scores.size());
  for (std::size_t i = 0; i < a.scores.size(); ++i) expect_same(a.scores[i], b.scores[i]);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) expect_same(a.history[i], b.history[i]);
}

FoldRecord full_fold(Index number) {
  FoldRecord record = fold(number, 0.1, 1.0 / 3);
  record.status = "converged";
  record.message = "Größe β\n'x'";
  record.epochs = 20;
  record.best_epoch = 17;
  record.scores = {{"rna", "все", "accuracy", 0.7, 31, ""}, {"a", "a", "r_squared", kNaN, 0, "âge"}};
  record.scores.push_back({"", "all", "rmse", -kInfinity, 4, "t"});
  record.history.push_back({1, {1.5, 2.5, 3.5, 4.5, 5.5}, 6.5, 7.5, 8.5, 9.5});
  record.history.push_back({2, {kInfinity, -kInfinity, kNaN, 1e-310, 1e308}, kNaN, kNaN, kNaN, kNaN});
  return record;
}

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
  EXPECT_THAT(refused({{"a", "1"}}), HasSubstr("with another b: got nothing, need '2'"));
  EXPECT_THAT(refused({{"a", "1"}, {"c", ""}, {"b", "2"}}), HasSubstr("with another c: got '', need nothing"));
  EXPECT_THAT(store.studies(), SizeIs(2));
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

// Works on what is left; a line a trial in a file that all workers append to.
void work(TrialStore& store, TrialStore::Study study, const std::string& log) {
  std::ofstream out(log, std::ios::app);
  while (const auto claim = store.claim(study, 0, kAll)) {
    out << claim->record.number << std::endl;
    store.keep_fold(*claim, fold(0, static_cast<double>(claim->record.number)));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    store.finish(*claim);
  }
}

// Every trial was done, and none twice.
void expect_done_once(const std::string& path, const std::string& log, Index count) {
  std::ifstream in(log);
  std::vector<Index> done(std::istream_iterator<Index>(in), {});
  std::sort(done.begin(), done.end());
  ASSERT_EQ(static_cast<Index>(done.size()), count);
  TrialStore store(path);
  const auto trials = store.trials(store.study("s", {}));
  ASSERT_EQ(static_cast<Index>(trials.size()), count);
  for (Index i = 0; i < count; ++i) {
    EXPECT_EQ(done[i], i);
    EXPECT_EQ(trials[i].state, TrialState::finished);
    EXPECT_EQ(trials[i].value, static_cast<double>(i));
  }
}

TEST(TrialStore, ThreadsShareTheWork) {
  const TempDir dir;
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {});
  store.add(study, numbered(60));
  {
    const auto one = [&] { work(store, study, dir.file("log")); };
    const std::jthread first(one);
    const std::jthread second(one);
  }
  expect_done_once(dir.file("a.db"), dir.file("log"), 60);
}

// The child opens its own store; it ends without what a test program does at its end.
pid_t in_child(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int result = 0;
  try {
    action();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    result = 1;
  }
  ::_exit(result);
}

int result_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(TrialStore, ProcessesShareTheWorkOfANewFile) {
  const TempDir dir;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(in_child([&] {
      TrialStore store(dir.file("a.db"));
      const auto study = store.study("s", {});
      store.add(study, numbered(60));
      work(store, study, dir.file("log"));
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(result_of(child), 0);
  expect_done_once(dir.file("a.db"), dir.file("log"), 60);
}

TEST(TrialStore, ManyProcessesMakeTheSameFileAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const TempDir dir;
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(in_child([&] { TrialStore(dir.file("a.db")).study("s", {}); }));
    }
    for (const pid_t child : children) EXPECT_EQ(result_of(child), 0);
    EXPECT_THAT(TrialStore(dir.file("a.db")).studies(), SizeIs(1));
  }
}

TEST(TrialStore, WhatAKilledProcessHeldIsFreeAtOnceWithItsFolds) {
  const TempDir dir;
  const pid_t child = in_child([&] {
    TrialStore store(dir.file("a.db"));
    const auto study = store.study("s", {});
    store.add(study, numbered(1));
    store.keep_fold(*store.claim(study, 0, kAll), full_fold(0));
    ::raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(result_of(child)));
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {});
  EXPECT_EQ(store.trials(study)[0].state, TrialState::running);
  const auto claim = store.claim(study, 0, kAll);
  ASSERT_TRUE(claim);
  ASSERT_THAT(claim->record.folds, SizeIs(1));
  expect_same(claim->record.folds[0], full_fold(0));
  EXPECT_TRUE(store.finish(*claim));
}

TEST(TrialStore, OnlyAMissingProcessOfThisMachineIsGone) {
  const std::string owner = detail::new_owner();
  const std::string host = owner.substr(0, owner.find('/'));
  std::string elsewhere = host;
  elsewhere.front() = '?';
  const auto time = detail::unix_time();
  EXPECT_TRUE(detail::is_gone(host + "/999999999/x", time));
  EXPECT_FALSE(detail::is_gone(elsewhere + "/999999999/x", time));
  EXPECT_FALSE(detail::is_gone(owner, time));
  EXPECT_TRUE(detail::is_gone(owner, time + 1000));
  const pid_t another_user = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) throw std::runtime_error("cannot become nobody");
    if (detail::is_gone(host + "/1/x", time)) throw std::runtime_error("the first process is said to be gone");
  });
  EXPECT_EQ(result_of(another_user), 0);
}

TEST(TrialStore, ALivingOwnersClaimIsNotTaken) {
  const TempDir dir;
  TrialStore owner(dir.file("a.db"));
  const auto study = owner.study("s", {});
  owner.add(study, numbered(1));
  const auto claim = owner.claim(study, 0, kAll);
  TrialStore other(dir.file("a.db"));
  EXPECT_FALSE(other.claim(study, 0, kAll));
  edit(dir.file("a.db"), fmt::format("UPDATE trials SET heartbeat = {}", std::time(nullptr) - 50));
  EXPECT_FALSE(other.claim(study, 0, kAll));
  EXPECT_FALSE(other.finish(*claim));
  EXPECT_TRUE(owner.finish(*claim));
}

TEST(TrialStore, AClaimThatWasNotRenewedIsLost) {
  const TempDir dir;
  TrialStore owner(dir.file("a.db"));
  const auto study = owner.study("s", {});
  owner.add(study, numbered(1));
  const auto lost = owner.claim(study, 0, kAll);
  edit(dir.file("a.db"), fmt::format("UPDATE trials SET heartbeat = {}", std::time(nullptr) - 70));
  TrialStore other(dir.file("a.db"));
  const auto claim = other.claim(study, 0, kAll);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(owner.keep_fold(*lost, fold(0, 1)));
  EXPECT_FALSE(owner.finish(*lost));
  EXPECT_FALSE(owner.fail(*lost, "x"));
  EXPECT_FALSE(owner.release(*lost));
  EXPECT_TRUE(other.keep_fold(*claim, fold(0, 2)));
  EXPECT_TRUE(other.finish(*claim));
  EXPECT_EQ(owner.trials(study)[0].value, 2);
}

TEST(TrialStore, ClaimsAreRenewed) {
  const TempDir dir;
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {});
  store.add(study, numbered(1));
  store.claim(study, 0, kAll);
  edit(dir.file("a.db"), "UPDATE trials SET heartbeat = 0");
  SQLite::Database file(dir.file("a.db"), SQLite::OPEN_READONLY, 10000);
  const auto renewed = [&] { return file.execAndGet("SELECT heartbeat FROM trials").getInt64() != 0; };
  for (int tries = 0; tries < 200 && !renewed(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(std::abs(file.execAndGet("SELECT heartbeat FROM trials").getInt64() - std::time(nullptr)), 10);
}

TEST(TrialStore, EndsPromptly) {
  const auto start = std::chrono::steady_clock::now();
  { const TrialStore store(""); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(TrialStore, AnotherProgramsFileIsRefusedAndLeftAlone) {
  const TempDir dir;
  const std::string text = dir.write("a.csv", "sample,score\n1,2\n");
  edit(dir.file("other.db"), "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  edit(dir.file("wal.db"), "PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
  edit(dir.file("id.db"), "PRAGMA application_id = 5");
  for (const std::string name : {"a.csv", "other.db", "wal.db", "id.db"}) {
    const std::string before = read_file(dir.file(name));
    EXPECT_THAT(error_message<InputError>([&] { TrialStore store(dir.file(name)); }),
                AllOf(HasSubstr("[" + dir.file(name) + "] this "), HasSubstr("choose another --store file")));
    EXPECT_EQ(read_file(dir.file(name)), before);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 4);
}

TEST(TrialStore, ALaterFormatIsRefused) {
  const TempDir dir;
  { TrialStore store(dir.file("a.db")); }
  edit(dir.file("a.db"), "PRAGMA user_version = 2");
  EXPECT_THAT(error_message<InputError>([&] { TrialStore store(dir.file("a.db")); }),
              HasSubstr("is of another format: got 2, need 1"));
}

// Permissions do not bind root.
class NotRoot {
 public:
  NotRoot() {
    if (root_) std::ignore = ::seteuid(65534);
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() {
    if (root_) std::ignore = ::seteuid(0);
  }

 private:
  const bool root_ = ::geteuid() == 0;
};

TEST(TrialStore, AFolderThatCannotBeWrittenToIsAnInputError) {
  const TempDir dir;
  { TrialStore store(dir.file("a.db")); }
  const auto refused = [&](const std::string& name) {
    return error_message<InputError>([&] { TrialStore store(dir.file(name)); });
  };
  EXPECT_THAT(refused("none/a.db"), HasSubstr("the trial store cannot be written: "));
  EXPECT_THAT(error_message<InputError>([&] { TrialStore store(dir.path().string()); }),
              HasSubstr("cannot be written"));
  ::chmod(dir.path().c_str(), 0555);
  {
    const NotRoot nobody;
    EXPECT_THAT(refused("new.db"), HasSubstr("; choose a --store file in a folder that exists"));
    EXPECT_THAT(refused("a.db"), HasSubstr("the trial store cannot be written: "));
  }
  ::chmod(dir.path().c_str(), 0755);
}

TEST(TrialStore, ABrokenFileIsAnError) {
  const TempDir dir;
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {});
  store.add(study, numbered(1));
  edit(dir.file("a.db"), "UPDATE trials SET seed = '-1'");
  EXPECT_THAT(error_message<Error>([&] { std::ignore = store.trials(study); }), HasSubstr("got '-1'"));
  edit(dir.file("a.db"), "DROP TABLE trials");
  EXPECT_THAT(error_message<Error>([&] { std::ignore = store.trials(study); }),
              HasSubstr("[" + store.path() + "] the trial store cannot be read or written: no such table: "));
}

TEST(TrialStore, NamesThatSQLiteTakesForSomethingElseAreFiles) {
  const TempDir dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  for (const std::string name : {":memory:", "file:a?mode=memory"}) {
    { TrialStore store(name); }
    EXPECT_TRUE(fs::exists(name));
  }
  fs::current_path(before);
}

TEST(TrialStore, ACheckpointIsTheSameInEveryRung) {
  const TempDir dir;
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {});
  store.add(study, numbered(2, 0));
  store.add(study, numbered(1, 1));
  EXPECT_FALSE(fs::exists(dir.file("a.db.checkpoints")));
  const auto first = store.claim(study, 0, kAll);
  const std::string path = store.checkpoint(*first, 3);
  EXPECT_EQ(fs::path(path).parent_path(), dir.file("a.db.checkpoints"));
  EXPECT_TRUE(fs::is_directory(dir.file("a.db.checkpoints")));
  EXPECT_EQ(store.checkpoint(*store.claim(study, 1, kAll), 3), path);
  EXPECT_NE(store.checkpoint(*first, 4), path);
  EXPECT_NE(store.checkpoint(*store.claim(study, 0, kAll), 3), path);
  const auto other = store.study("other", {});
  store.add(other, numbered(1));
  EXPECT_NE(store.checkpoint(*store.claim(other, 0, kAll), 3), path);
}

TEST(TrialStore, AStoreInMemoryHasNoFiles) {
  TrialStore store("");
  const auto study = store.study("s", {});
  store.add(study, numbered(1));
  const auto claim = store.claim(study, 0, kAll);
  EXPECT_EQ(store.checkpoint(*claim, 0), "");
  EXPECT_EQ(store.path(), "");
  EXPECT_TRUE(store.finish(*claim));
  EXPECT_THAT(TrialStore("").studies(), IsEmpty());
}

TEST(TrialStore, PeopleCanReadTheBestTrials) {
  const TempDir dir;
  TrialStore store(dir.file("a.db"));
  const auto study = store.study("s", {});
  std::vector<NewTrial> trials = numbered(3);
  trials[1].settings = {{"rate", "0.1"}, {"depth", "2"}};
  store.add(study, trials);
  for (const double value : {0.5, 0.9}) {
    const auto claim = store.claim(study, 0, kAll);
    store.keep_fold(*claim, fold(0, value));
    store.finish(*claim);
  }
  SQLite::Database file(dir.file("a.db"));
  EXPECT_EQ(file.execAndGet("SELECT count(*) FROM best").getInt(), 2);
  EXPECT_EQ(file.execAndGet("SELECT study || number || ' ' || value || ' ' || settings FROM best").getString(),
            "s1 0.9 rate=0.1 depth=2");
}

TEST(TrialStore, IsSoundToSqliteAndRanksByWhatIsBetter) {
  const TempDir dir;
  for (const auto& [better, expected] : {std::pair{"larger", 2}, {"smaller", 1}}) {
    const std::string path = dir.file(better);
    {
      TrialStore store(path);
      const auto study = store.study("s", {{"better", better}});
      store.add(study, std::vector<NewTrial>{{1, 0, {{"a", "1"}}, 0}, {2, 0, {{"a", "2"}}, 0}});
      while (const auto claim = store.claim(study, 0, 3)) {
        FoldRecord fold;
        fold.value = static_cast<double>(claim->record.number);
        store.keep_fold(*claim, fold);
        store.finish(*claim);
      }
    }
    SQLite::Database database(path);
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(database.execAndGet("SELECT number FROM best LIMIT 1").getInt(), expected);
  }
}

TEST(TrialStore, SaysSoWhenItsFileIsTakenAway) {
  const TempDir dir;
  TrialStore store(dir.file("s.db"));
  const auto study = store.study("s", {});
  std::filesystem::rename(dir.file("s.db"), dir.file("t.db"));
  EXPECT_THAT(error_message<Error>([&] {
                store.add(study, std::vector<NewTrial>{{0, 0, {}, 0}});
              }),
              HasSubstr("removed or replaced"));
}

}  // namespace
}  // namespace tocca
