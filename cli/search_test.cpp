// `tocca search` and `tocca compare` from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "cli/testing.h"
#include "tocca/search/trial_store.h"

namespace tocca::cli {
namespace {

using ::testing::AllOf;
using testing::content;
using testing::Files;
using ::testing::HasSubstr;
using testing::lines;
using testing::Outcome;
using ::testing::StartsWith;
using testing::tocca;
using testing::with;

class Study : public Files {
 public:
  Study() {
    std::ostringstream words, groups, three, gaps;
    words << "sample,run0,run1\n";
    groups << "sample,patient\n";
    three << "sample,patient\n";
    gaps << "sample,patient\n";
    for (int i = 0; i < 90; ++i) {
      const char* const kinds[] = {"train", "train", "train", "val", "test", "none"};
      words << 'p' << i << ',' << kinds[i % 6] << ',' << kinds[(i + 1) % 5] << '\n';
      groups << 'p' << i << ',' << i / 3 << '\n';
      three << 'p' << i << ',' << i / 30 << '\n';
      gaps << 'p' << i << ',' << (i == 1 ? "NA" : "a") << '\n';
    }
    dir.write("split.csv", words.str());
    dir.write("groups.csv", groups.str());
    dir.write("three.csv", three.str());
    dir.write("gaps.csv", gaps.str());
    dir.write("space.toml",
              "[options]\nepochs = 3\nhidden_size = 8\nn_components = 3\n\n[space]\n"
              "learning_rate = { log_uniform = [1e-3, 1e-1] }\ndropout = [0, 0.2]\n");
  }

  [[nodiscard]] std::vector<std::string> search(std::initializer_list<std::string> more = {}) const {
    return command("search",
                   {"--space", dir.file("space.toml"), "--trials", "4", "--store", dir.file("s.db"), "--folds", "2"},
                   more);
  }
  [[nodiscard]] std::vector<std::string> compare(std::initializer_list<std::string> more = {}) const {
    return command("compare",
                   {"--methods", "rcca,svm,tocca-w", "--splits", "3", "--set", "epochs=3", "--set", "hidden_size=8",
                    "--components", "3"},
                   more);
  }

 private:
  [[nodiscard]] std::vector<std::string> command(const std::string& name, std::initializer_list<std::string> usual,
                                                 std::initializer_list<std::string> more) const {
    std::vector<std::string> arguments{name, "--labels", labels(), "--threads", "1"};
    for (const std::string& view : both()) arguments.push_back(view);
    // What is asked for more stands for the usual option of the same name.
    const std::vector<std::string> own(more);
    for (auto option = usual.begin(); option != usual.end(); option += 2) {
      const auto given = [&](const std::string& name) { return std::find(own.begin(), own.end(), name) != own.end(); };
      const bool cut = given("--folds") || given("--split") || given("--repeats");
      const bool again = (*option != "--set" && given(*option)) || (*option == "--splits" && cut);
      if (!again) arguments.insert(arguments.end(), option, option + 2);
    }
    return with(std::move(arguments), more);
  }
};

void expect_refused(const Outcome& outcome, const std::string& text) {
  EXPECT_EQ(outcome.code, kBadInput) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr(text));
}

TEST(SearchCommand, KeepsTrialsExportsThemAndFitsTheBest) {
  const Study files;
  const std::string model = files.dir.file("best.safetensors"), table = files.dir.file("trials.csv");
  const Outcome outcome = tocca(files.search({"--best", model, "--export", table}));
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("learning_rate"), HasSubstr("best     trial")));
  const auto rows = lines(content(table));
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_THAT(rows[0], StartsWith("trial,rung,state,reason,seed,accuracy,se,folds,epochs,seconds,version"));
  const Outcome scored = tocca(
      with({"evaluate", "--model", model, "--labels", files.labels(), "--json"}, {files.both()[0], files.both()[1]}));
  EXPECT_EQ(scored.code, kSuccess) << scored.err;
}

TEST(SearchCommand, MoreTrialsLeaveThoseThatAreThere) {
  const Study files;
  const auto before = tocca(files.search({"--json"})).json();
  const auto after = tocca(files.search({"--json", "--trials", "6"})).json();
  ASSERT_EQ(before.at("rows").size(), 4U);
  ASSERT_EQ(after.at("rows").size(), 6U);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(after.at("rows")[t], before.at("rows")[t]) << "not done again";
  EXPECT_EQ(after.at("command"), "search");
  EXPECT_TRUE(after.at("rows")[0].contains("learning_rate"));
}

TEST(SearchCommand, WhatIsSetByHandIsNotSearched) {
  const Study files;
  const auto told = tocca(files.search({"--json", "--set", "dropout=0.1", "--set", "epochs=2"})).json();
  EXPECT_FALSE(told.at("rows")[0].contains("dropout"));
  const Outcome everything =
      tocca(files.search({"--study", "other", "--set", "dropout=0.1", "--set", "learning_rate=1"}));
  expect_refused(everything, "nothing in the space has an effect");
}

TEST(SearchCommand, TakesAValidationSetGroupsAndAMetric) {
  const Study files;
  const Outcome split = tocca(files.search(
      {"--split", files.dir.file("split.csv") + ":run0", "--folds", "0", "--metric", "accuracy:left", "--quiet"}));
  expect_refused(split, "--split says how samples are cut");
  std::vector<std::string> arguments =
      files.search({"--split", files.dir.file("split.csv") + ":run0", "--metric", "accuracy:left", "--json"});
  std::erase(arguments, "--folds");
  arguments.erase(std::find(arguments.begin(), arguments.end(), "2"));
  const Outcome given = tocca(arguments);
  ASSERT_EQ(given.code, kSuccess) << given.err;
  const auto told = given.json();
  EXPECT_EQ(told.at("rows")[0].at("n"), 45) << "train alone";
  EXPECT_EQ(told.at("rows")[0].at("splits"), 1);
  const std::string groups = files.dir.file("groups.csv");
  const Outcome grouped = tocca(files.search({"--study", "g", "--groups", groups, "--json"}));
  ASSERT_EQ(grouped.code, kSuccess) << grouped.err;
  EXPECT_NE(grouped.json().at("rows"), tocca(files.search({"--study", "h", "--json"})).json().at("rows"));
  const Outcome torn = tocca(with(arguments, {"--groups", files.dir.file("groups.csv")}));
  expect_refused(torn, "samples 'p3' and 'p4' are of one group");
}

TEST(SearchCommand, SaysWhatWasSetForNothing) {
  const Study files;
  const Outcome outcome = tocca(files.search({"--val", "0.3", "--set", "keep=3"}));
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("method 'tocca-w': keep"), HasSubstr("validation is without effect")));
  const Outcome compared = tocca(files.compare({"--set", "keep=3", "--set", "dropout=0.1"}));
  EXPECT_THAT(compared.err, HasSubstr("methods 'rcca', 'svm', 'tocca-w': keep\n"));
}

TEST(SearchCommand, HalvingStopsMostTrialsEarly) {
  const Study files;
  const Outcome outcome = tocca(files.search({"--halving", "2", "--rungs", "2", "--json"}));
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  int finished = 0;
  const auto told = outcome.json();
  for (const auto& row : told.at("rows")) finished += row.at("rung") == 1 ? 1 : 0;
  EXPECT_EQ(finished, 2);
  EXPECT_THAT(lines(tocca(files.search({"--halving", "2", "--rungs", "2"})).out)[0], HasSubstr("rung  epochs"));
}

TEST(SearchCommand, ShowsItsSpaceAndTakesItBack) {
  const Study files;
  const Outcome shown = tocca({"search", "--preset", "breast", "--show-space"});
  ASSERT_EQ(shown.code, kSuccess) << shown.err;
  const std::string path = files.dir.write("shown.toml", shown.out);
  EXPECT_EQ(tocca({"search", "--space", path, "--show-space"}).out, shown.out);
  EXPECT_EQ(tocca({"search", "--space", path, "--show-space", "--json"}).json().at("space"), shown.out);
}

TEST(SearchCommand, MistakesAreOneClearLineAndChangeNothing) {
  const Study files;
  const std::string store = files.dir.write("notes.txt", "not a database, but someone's notes\n");
  expect_refused(tocca(files.search({"--store", store})), "notes.txt");
  EXPECT_EQ(content(store), "not a database, but someone's notes\n");
  expect_refused(tocca(files.search({"--store", files.dir.file("labels.csv")})), "input of this command");
  expect_refused(tocca(files.search({"--preset", "mnist"})), "need one of the two");
  expect_refused(tocca(files.search({"--metric", "acc"})), "accuracy");
  expect_refused(tocca(files.search({"--trials", "0"})), "trials: got 0");
  expect_refused(tocca(files.search({"--holdout", "0.5"})), "need one of the two");
  expect_refused(tocca(files.search({"--groups", files.dir.file("labels.csv")})), "got 2 columns");
  EXPECT_EQ(tocca(files.search({"--quiet"})).code, kSuccess);
  expect_refused(tocca(files.search({"--set", "weight_decay=0.5"})), "weight_decay");
  expect_refused(tocca({"search", "--trials", "1"}), "--view");
  expect_refused(tocca(files.search({"--export", files.dir.file("x"), "--best", files.dir.file("x")})), "--export");
  expect_refused(tocca(files.search({"--export", files.dir.file("s.db-wal")})), "--store");
  expect_refused(tocca(files.search({"--export", files.dir.file("t.csv.gz")})), "leave out .gz");
  expect_refused(tocca(files.search({"--metric", ""})), "[--metric] got an empty text");
  expect_refused(tocca(files.search({"--metric", "rmse"})), "cannot be measured");
}

TEST(CompareCommand, TellsMeansDifferencesAndSplits) {
  const Study files;
  const Outcome outcome = tocca(files.compare({"--out", files.dir.file("out"), "--baseline", "svm"}));
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("accuracy less svm"), HasSubstr("tocca-w"), HasSubstr("±")));
  EXPECT_EQ(lines(content(files.dir.file("out/splits.csv"))).size(), 1U + 9U);
  EXPECT_THAT(content(files.dir.file("out/report.html")), HasSubstr("corrected resampled t-test"));
  const auto told = tocca(files.compare({"--json"})).json();
  EXPECT_EQ(told.at("differences").size(), 2U);
  EXPECT_EQ(told.at("rows")[0].at("method"), "rcca");
  EXPECT_EQ(told.at("rows")[0].at("splits"), 3);
}

TEST(CompareCommand, TunesInsideAndGoesOnFromItsStore) {
  const Study files;
  const auto arguments = files.compare({"--tune", "2", "--inner-folds", "2", "--space", files.dir.file("space.toml"),
                                        "--store", files.dir.file("c.db"), "--json"});
  const Outcome first = tocca(arguments);
  ASSERT_EQ(first.code, kSuccess) << first.err;
  const auto before = std::filesystem::last_write_time(files.dir.file("c.db"));
  EXPECT_EQ(tocca(arguments).json().at("rows"), first.json().at("rows"));
  EXPECT_EQ(std::filesystem::last_write_time(files.dir.file("c.db")), before) << "nothing was left to do";
  const auto more = tocca(files.compare({"--tune", "2", "--inner-folds", "2", "--space", files.dir.file("space.toml"),
                                         "--store", files.dir.file("c.db"), "--json", "--splits", "4"}))
                        .json();
  EXPECT_EQ(more.at("rows")[0].at("splits"), 4);
}

TEST(CompareCommand, TakesGivenSplits) {
  const Study files;
  const auto told = tocca(files.compare({"--split", files.dir.file("split.csv"), "--json"})).json();
  EXPECT_EQ(told.at("rows")[0].at("splits"), 2);
  EXPECT_EQ(told.at("rows")[0].at("n"), 45);
}

TEST(CompareCommand, ShuffledLabelsAreAtChance) {
  const Study files;
  const auto told = tocca(files.compare({"--shuffle-labels", "--splits", "12", "--json"})).json();
  for (const auto& row : told.at("rows")) {
    if (!row.at("compared").get<bool>()) continue;
    // 12 splits of 22 samples, which share samples: three standard errors of 90 coins of three sides.
    EXPECT_NEAR(row.at("mean").get<double>(), 1.0 / 3, 3 * std::sqrt(2.0 / 9 / 90)) << row.at("method");
  }
}

TEST(CompareCommand, AMethodWithoutAValueIsAFailure) {
  const Study files;
  const Outcome outcome =
      tocca(files.compare({"--methods", "rcca,tocca-w", "--set", "covariance=batch", "--set", "batch_size=2"}));
  EXPECT_EQ(outcome.code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("tocca-w has no value: "));
  EXPECT_THAT(outcome.out, HasSubstr("rcca"));
}

TEST(CompareCommand, ShowsEveryTarget) {
  const Study files;
  std::ostringstream targets;
  targets << "sample,age,weight\n";
  for (int i = 0; i < 90; ++i) targets << 'p' << i << ',' << i << ',' << (i * 7) % 50 << '\n';
  std::vector<std::string> arguments = files.compare({"--methods", "tocca-nd", "--task", "regression", "--json"});
  *std::find(arguments.begin(), arguments.end(), files.labels()) =
      files.dir.write("t.csv", targets.str()) + ":age,weight";
  arguments.pop_back();
  const Outcome outcome = tocca(arguments);
  ASSERT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_THAT(lines(outcome.out)[0], AllOf(HasSubstr("age left"), HasSubstr("weight left"), HasSubstr("weight all")));
}

TEST(CompareCommand, SaysWhereACrossViewFigureIsNone) {
  const Study files;
  EXPECT_THAT(tocca(files.compare({"--metric", "cross_view_accuracy"})).out, HasSubstr("svm: no shared space"));
}

TEST(CompareCommand, MistakesAreOneClearLine) {
  const Study files;
  expect_refused(tocca(files.compare({"--tune", "2", "--folds", "3", "--groups", files.dir.file("three.csv")})),
                 "the search inside the training part of split 1 (--inner-folds): folds: got 5, need at most 2");
  expect_refused(tocca(files.compare({"--groups", files.dir.file("gaps.csv")})), "sample 'p1' has no group");
  expect_refused(tocca(files.compare({"--groups", files.dir.file("gaps.csv") + ":"})), "[--groups] got");
  expect_refused(tocca(files.compare({"--methods", "tocca"})), "unknown method 'tocca'");
  expect_refused(tocca(files.compare({"--baseline", "cca"})), "baseline");
  expect_refused(tocca(files.compare({"--preset", "default"})), "without --tune");
  expect_refused(tocca(files.compare({"--split", files.labels()})), "need train, val, test or none");
  expect_refused(tocca(files.compare({"--test", "1.5"})), "got 1.5");
  expect_refused(tocca(files.compare({"--folds", "200"})), "at most 90");
  expect_refused(tocca(with(files.compare({"--folds", "3"}), {"--splits", "3"})), "need one of them");
  expect_refused(tocca(files.compare({"--inner-folds", "3"})), "--tune");
  expect_refused(tocca(files.compare({"--out", files.dir.file("o"), "--store", files.dir.file("o/results.csv")})),
                 "--store");
  expect_refused(tocca(files.compare({"--split", files.dir.file("split.csv") + ":run0,run0"})), "each split once");
  expect_refused(tocca(files.compare({"--split", files.dir.file("split.csv"), "--test", "0.3"})),
                 "need one of the two");
  expect_refused(tocca({"compare", "--view", "left=" + files.dir.file("left.csv")}), "--labels");
}

bool under_way(const std::string& path) {
  if (!std::filesystem::exists(path)) return false;
  const TrialStore store(path);
  const auto study = store.find_study("search");
  if (!study) return false;
  const auto trials = store.trials(*study);
  return std::any_of(trials.begin(), trials.end(), [](const TrialRecord& t) { return t.state == TrialState::running; });
}

// Ctrl-C, then the same command: the same table as without.
TEST(SearchCommand, GoesOnAfterCtrlC) {
  const Study files;
  const auto arguments = files.search({"--set", "epochs=400", "--json"});
  std::vector<const char*> words{TOCCA_COMMAND};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  const pid_t worker = fork();
  if (worker == 0) {
    (void)!freopen("/dev/null", "w", stdout);
    (void)!freopen("/dev/null", "w", stderr);
    execv(TOCCA_COMMAND, const_cast<char* const*>(words.data()));
    _exit(9);
  }
  // Once a trial is under way.
  for (int wait = 0; wait < 200 && !under_way(files.dir.file("s.db")); ++wait) usleep(20'000);
  kill(worker, SIGINT);
  int status = 0;
  waitpid(worker, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kInterrupted;  // a signal before it listens is one, too
  EXPECT_THAT(code, ::testing::AnyOf(kSuccess, kInterrupted));
  std::vector<std::string> whole = arguments;
  std::replace(whole.begin(), whole.end(), files.dir.file("s.db"), files.dir.file("whole.db"));
  auto resumed = tocca(arguments).json(), expected = tocca(whole).json();
  for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(resumed["rows"][t]["mean"], expected["rows"][t]["mean"]);
}

}  // namespace
}  // namespace tocca::cli
