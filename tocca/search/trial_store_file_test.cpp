// The file of a trial store: what is refused, what lies beside it, what people read in it.
#include "tocca/search/trial_store_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <tuple>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/search/test_trials.h"
#include "tocca/search/trial_store.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/not_root.h"
#include "tocca/testing/temp_dir.h"

namespace tocca {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::edit;
using testing::error_message;
using testing::expect_same;
using testing::fold;
using testing::full_fold;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kAll;
using testing::new_trial;
using testing::NotRoot;
using testing::numbered;
using testing::TempDir;

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
