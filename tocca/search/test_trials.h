/// Trials and folds for tests of the trial store.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tocca/search/trial_store.h"

namespace tocca::testing {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr Index kAll = 1000;  // a limit above every trial's number

inline NewTrial new_trial(Index number, Index rung = 0) {
  NewTrial trial;
  trial.number = number;
  trial.rung = rung;
  return trial;
}

inline std::vector<NewTrial> numbered(Index count, Index rung = 0) {
  std::vector<NewTrial> trials;
  for (Index number = 0; number < count; ++number) trials.push_back(new_trial(number, rung));
  return trials;
}

inline FoldRecord fold(Index number, double value, double seconds = 0) {
  FoldRecord record;
  record.fold = number;
  record.value = value;
  record.seconds = seconds;
  return record;
}

// What another program, or a person with sqlite3, does to the file.
inline void edit(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10000).exec(sql);
}

inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

inline void expect_same(const EpochRecord& a, const EpochRecord& b) {
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

inline void expect_same(const Score& a, const Score& b) {
  EXPECT_EQ(a.train_view, b.train_view);
  EXPECT_EQ(a.test_view, b.test_view);
  EXPECT_EQ(a.metric, b.metric);
  EXPECT_PRED2(same, a.value, b.value);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.target, b.target);
}

inline void expect_same(const FoldRecord& a, const FoldRecord& b) {
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

inline FoldRecord full_fold(Index number) {
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

}  // namespace tocca::testing
