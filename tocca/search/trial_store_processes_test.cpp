// Threads and processes on one trial store: who owns a trial, and what becomes of it when the owner is gone.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "tocca/search/claim_owner.h"
#include "tocca/search/test_trials.h"
#include "tocca/search/trial_store.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

using testing::edit;
using testing::expect_same;
using testing::fold;
using testing::full_fold;
using testing::kAll;
using testing::new_trial;
using testing::numbered;
using ::testing::SizeIs;
using testing::TempDir;

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

}  // namespace
}  // namespace tocca
