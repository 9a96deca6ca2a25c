#include "tocca/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <new>

#include "tocca/core/error.h"
#include "tocca/search/space_file.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"
#include "tocca/testing/two_views.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_shared;
using tocca::testing::make_xor;
using tocca::testing::TempDir;

SearchOptions small_search(Index trials = 6) {
  SearchOptions search;
  search.options.method = "tocca-sd";
  search.options.n_components = 4;
  search.options.hidden_size = 16;
  search.options.epochs = 9;
  search.options.seed = 3;
  search.space = parse_space(
      "[space]\nlearning_rate = { log_uniform = [1e-4, 1e-1] }\nhidden_layers = { integer = [0, 2] }\n", "space");
  search.resampling = {.folds = 2};
  search.trials = trials;
  return search;
}

// What a trial came to, bit by bit.
using Results = std::map<Index, std::pair<NamedTexts, std::vector<double>>>;
Results results(const SearchResult& found) {
  Results all;
  for (const TrialRecord& trial : found.trials) {
    std::vector<double> values{trial.value, static_cast<double>(trial.rung)};
    for (const FoldRecord& fold : trial.folds) values.push_back(fold.value);
    all[trial.number] = {trial.settings, values};
  }
  return all;
}

TEST(Search, SameSeedSameTrialsForAnyNumberOfThreadsAndRaises) {
  const Dataset data = make_shared(120, 3, 0.3, 1);
  TrialStore one(""), three(""), raised("");
  const SearchResult found = run_search(one, "s", {data}, small_search(), {});
  ASSERT_EQ(found.trials.size(), 6U);
  EXPECT_EQ(results(run_search(three, "s", {data}, small_search(), make_context(3))), results(found));
  run_search(raised, "s", {data}, small_search(2), {});
  EXPECT_EQ(results(run_search(raised, "s", {data}, small_search(), {})), results(found));
  SearchOptions other = small_search();
  other.options.seed = 4;
  TrialStore fresh("");
  EXPECT_NE(results(run_search(fresh, "s", {data}, other, {})), results(found));
}

TEST(Search, TheBestHasTheBestValueAndItsFoldsAreDifferentData) {
  TrialStore store("");
  const Dataset data = make_shared(120, 3, 0.3, 1);
  const SearchResult found = run_search(store, "s", {data}, small_search(), {});
  ASSERT_TRUE(found.best);
  for (const TrialRecord& trial : found.trials) {
    EXPECT_LE(trial.value, found.trials[*found.best].value);
    ASSERT_EQ(trial.folds.size(), 2U);
    EXPECT_DOUBLE_EQ(trial.value, (trial.folds[0].value + trial.folds[1].value) / 2);
    EXPECT_EQ(trial.folds[0].scores[0].samples + trial.folds[1].scores[0].samples, 120);
  }
}

// An interruption at any point, then the same call again: the same bits as without.
TEST(Search, GoesOnAfterAnInterruption) {
  const TempDir dir;
  const Dataset data = make_shared(120, 3, 0.3, 1);
  TrialStore whole("");
  const Results expected = results(run_search(whole, "s", {data}, small_search(), {}));
  std::atomic<bool> cancel = false;
  int interruptions = 0;
  for (int go = 0;; ++go) {
    TrialStore store(dir.file("search.db"));
    cancel = false;
    int reports = 0;
    Context context = make_context(2);
    context.cancel = &cancel;
    context.progress = [&](const Progress&) { cancel = cancel || ++reports > 9 + 4 * go; };
    const SearchResult found = run_search(store, "s", {data}, small_search(), context);
    if (!found.interrupted) {
      EXPECT_EQ(results(found), expected);
      break;
    }
    ++interruptions;
    ASSERT_LT(go, 200);
  }
  EXPECT_GT(interruptions, 2);
  EXPECT_TRUE(!std::filesystem::exists(dir.file("search.db.checkpoints")) ||
              std::filesystem::is_empty(dir.file("search.db.checkpoints")));
}

TEST(Search, SeveralProcessesShareTheTrials) {
  const TempDir dir;
  const std::string path = dir.file("search.db");
  const Dataset data = make_shared(120, 3, 0.3, 1);
  std::vector<pid_t> children;
  for (int c = 0; c < 3; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      int code = 1;
      try {
        TrialStore store(path);
        const SearchResult found = run_search(store, "s", {data}, small_search(12), {});
        code = found.interrupted || found.trials.size() != 12 ? 2 : 0;
      } catch (...) {
        code = 3;
      }
      _exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  TrialStore store(path), alone("");
  EXPECT_EQ(results(run_search(store, "s", {data}, small_search(12), {})),
            results(run_search(alone, "s", {data}, small_search(12), {})));
}

TEST(Search, ATrialThatDivergesIsRecordedAndTheSearchGoesOn) {
  const Dataset data = make_shared(80, 3, 0.3, 1);
  SearchOptions search = small_search();
  search.options.learning_rate_schedule = "constant";
  search.space = parse_space("[space]\nlearning_rate = [1e-3, 1e9]\n", "space");
  TrialStore store("");
  const SearchResult found = run_search(store, "s", {data}, search, {});
  ASSERT_EQ(found.trials.size(), 2U) << "a space of two is gone through once";
  EXPECT_EQ(found.failed, 1);
  for (const TrialRecord& trial : found.trials) {
    if (trial.state == TrialState::finished) continue;
    EXPECT_THAT(trial.reason, HasSubstr("diverged"));
  }
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.trials[*found.best].settings[0].second, "0.001");
}

TEST(Search, SaysWhyWhenAllTrialsFail) {
  const Dataset data = make_shared(80, 3, 0.3, 1);
  SearchOptions search = small_search(2);
  search.space = parse_space("[options]\ncovariance = \"batch\"\n[space]\nbatch_size = [2, 3]\n", "space");
  search.options.method = "tocca-w";
  TrialStore store("");
  const SearchResult found = run_search(store, "s", {data}, search, {});
  EXPECT_FALSE(found.best);
  EXPECT_EQ(found.failed, 2);
  EXPECT_THAT(found.reason, HasSubstr("no trial could be scored; trial 0: [train] batch_size"));
}

TEST(Search, SaysSoWhenTheMetricCannotBeMeasured) {
  const Dataset data = make_shared(80, 3, 0.3, 1);
  SearchOptions search = small_search(2);
  search.scoring.metric = {"concordance", {}, {}};
  TrialStore store("");
  EXPECT_THAT(error_message<InputError>([&] { run_search(store, "s", {data}, search, {}); }),
              HasSubstr("concordance cannot be measured on these data; choose from accuracy"));
  search.options.method = "nn";  // has no space that the views share
  search.scoring.metric = {"sum_correlation", {}, {}};
  const SearchResult found = run_search(store, "s", {data}, search, {});
  EXPECT_FALSE(found.best);
  EXPECT_THAT(found.reason, HasSubstr("method 'nn' has no sum_correlation"));
}

// One message and nothing in the store, where no settings can mend it.
TEST(Search, DataThatCannotBeLearntFromAreRefusedAtOnce) {
  Dataset data = make_shared(80, 3, 0.3, 1);
  std::fill(data.labels.codes.begin(), data.labels.codes.end(), 1);
  TrialStore store("");
  EXPECT_THAT(error_message<InputError>([&] { run_search(store, "s", {data}, small_search(), {}); }),
              HasSubstr("class"));
  EXPECT_FALSE(store.find_study("s"));
}

// What is not the trial's fault ends the work at once, in every thread, and leaves the trials to be done.
TEST(TrialRunner, AnErrorThatIsNoTrialsFaultEndsTheWork) {
  TrialStore store("");
  const auto study = store.study("s", {});
  std::vector<NewTrial> trials;
  for (Index t = 0; t < 8; ++t) trials.push_back({t, 0, {}, 0});
  store.add(study, trials);
  const TrialWork work{.store = store,
                       .study = study,
                       .limit = 8,
                       .title = "s",
                       .metric = {},
                       .run = [](const TrialRecord& trial, Index, const Context&) -> FoldRecord {
                         if (trial.number == 2) throw std::bad_alloc();
                         FoldRecord record;
                         record.value = 1;
                         return record;
                       }};
  EXPECT_THROW(run_trials({&work, 1}, make_context(3)), std::bad_alloc);
  for (const TrialRecord& trial : store.trials(study)) {
    EXPECT_NE(trial.state, TrialState::failed);
    EXPECT_NE(trial.state, TrialState::running);
  }
}

TEST(TrialRunner, AStateOfAnotherFitIsPutAside) {
  const TempDir dir;
  const Dataset data = make_shared(120, 3, 0.3, 1);
  TrialStore store(dir.file("s.db"));
  const auto study = store.study("probe", {});
  store.add(study, std::vector<NewTrial>{{0, 0, {}, 0}});
  const std::string path = store.checkpoint(*store.claim(study, 0, 1), 0);
  dir.write("garbage", "no state of a training");
  std::filesystem::copy(dir.file("garbage"), path);
  FoldFit fold{data, &data, data, small_search().options, {}};
  Context own;
  own.checkpoint = path;
  EXPECT_FALSE(std::isnan(fit_fold(fold, nullptr, own).value));
}

TEST(Search, AStoreOfAnotherSearchIsRefused) {
  const Dataset data = make_shared(60, 3, 0.3, 1);
  TrialStore store("");
  run_search(store, "s", {data}, small_search(1), {});
  SearchOptions other = small_search(1);
  other.options.hidden_size = 17;
  EXPECT_THAT(error_message<InputError>([&] { run_search(store, "s", {data}, other, {}); }), HasSubstr("hidden_size"));
  other = small_search(1);
  other.options.ridge = 7;  // tocca-sd has no use for it
  EXPECT_NO_THROW(run_search(store, "s", {data}, other, {}));
  const Dataset more = make_shared(61, 3, 0.3, 1);
  EXPECT_THAT(error_message<InputError>([&] { run_search(store, "s", {more}, small_search(1), {}); }),
              HasSubstr("data"));
}

// Successive halving ends where training to the end would: a trial that went all the way has the bits of the same trial
// without rungs.
TEST(Search, HalvingTrainsTheBestToTheEndAndNoEpochTwice) {
  const TempDir dir;
  const Dataset data = make_xor(200, 1);
  SearchOptions search = small_search(9);
  search.options.patience = 0;
  TrialStore plain(""), store(dir.file("halving.db"));
  const SearchResult all = run_search(plain, "s", {data}, search, {});
  search.halving = Halving{3, 3};
  const SearchResult found = run_search(store, "s", {data}, search, make_context(2));
  std::map<Index, int> at_rung;
  for (const TrialRecord& trial : found.trials) {
    ++at_rung[trial.rung];
    EXPECT_EQ(trial.folds[0].epochs, trial.rung == 0 ? 1 : trial.rung == 1 ? 3 : 9);
    if (trial.rung < 2) continue;
    EXPECT_EQ(trial.value, all.trials[static_cast<std::size_t>(trial.number)].value);
  }
  EXPECT_EQ(at_rung, (std::map<Index, int>{{0, 6}, {1, 2}, {2, 1}}));
  EXPECT_EQ(found.trials[*found.best].rung, 2);
  search.trials = 12;
  EXPECT_THAT(error_message<InputError>([&] { run_search(store, "s", {data}, search, {}); }), HasSubstr("trials"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.file("halving.db.checkpoints"))) << "states of trials that are over";
}

// A training that stopped early before its rung ended is over: the next rung takes its record, down to its time.
TEST(Search, HalvingDoesNotRepeatWhatStoppedEarly) {
  const Dataset data = make_xor(200, 1);
  SearchOptions search = small_search(9);
  search.options.epochs = 200;
  search.options.patience = 2;
  search.halving = Halving{3, 2};
  TrialStore store("");
  run_search(store, "s", {data}, search, {});
  std::map<Index, std::vector<FoldRecord>> first;
  int taken = 0;
  for (const TrialRecord& trial : store.trials(*store.find_study("s"))) {
    if (trial.rung == 0) {
      first[trial.number] = trial.folds;
      continue;
    }
    for (std::size_t f = 0; f < trial.folds.size(); ++f) {
      if (first[trial.number][f].status != name_of(TrainStatus::stopped_early)) continue;
      EXPECT_EQ(trial.folds[f].seconds, first[trial.number][f].seconds);
      ++taken;
    }
  }
  EXPECT_GT(taken, 0);
}

TEST(Search, RefitLearnsFromEverythingForAsLong) {
  const Dataset data = make_shared(120, 3, 0.3, 1);
  TrialStore store("");
  const SearchOptions search = small_search(3);
  const SearchResult found = run_search(store, "s", {data}, search, {});
  const TrialRecord& best = found.trials[*found.best];
  const FitResult fitted = refit(data, search, best, {});
  EXPECT_EQ(fitted.summary.epochs, std::lround((best.folds[0].best_epoch + best.folds[1].best_epoch) / 2.0));
  const auto said = [&](const char* key) {
    for (const auto& [name, value] : fitted.model.provenance) {
      if (name == key) return value;
    }
    return std::string();
  };
  EXPECT_EQ(said("training_samples"), "120");
  EXPECT_EQ(said("validation_samples"), "0");
}

TEST(Search, MistakesAreNamed) {
  const Dataset data = make_shared(60, 3, 0.3, 1);
  TrialStore store("");
  const auto message = [&](auto change) {
    SearchOptions search = small_search();
    change(search);
    return error_message<InputError>([&] { run_search(store, "m", {data}, search, {}); });
  };
  EXPECT_THAT(message([](SearchOptions& s) { s.trials = 0; }), HasSubstr("trials: got 0"));
  EXPECT_THAT(message([](SearchOptions& s) { s.halving = Halving{1, 3}; }), HasSubstr("halving: got 1"));
  EXPECT_THAT(message([](SearchOptions& s) {
                s.options.method = "rcca";
                s.halving = Halving{3, 3};
              }),
              HasSubstr("no epochs"));
}

}  // namespace
}  // namespace tocca
