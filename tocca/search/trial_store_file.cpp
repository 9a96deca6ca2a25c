#include "tocca/search/trial_store_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "tocca/core/error.h"

namespace tocca::detail {
namespace {

constexpr int kApplicationId = 0x746f6363;  // "tocc"
constexpr int kFormat = 1;

// Primary keys come first in tables without row ids: otherwise SQLite 3.40 calls them damaged when it is asked to
// check. NaN is NULL, which SQLite makes of it by itself. Seeds are text: its integers have a sign.
constexpr const char* kSchema = R"(
CREATE TABLE studies (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE study_settings (
  study INTEGER NOT NULL REFERENCES studies ON DELETE CASCADE,
  position INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (study, position)
) WITHOUT ROWID;
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  study INTEGER NOT NULL REFERENCES studies ON DELETE CASCADE,
  number INTEGER NOT NULL,
  rung INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'finished', 'failed')),
  reason TEXT NOT NULL DEFAULT '',
  seed TEXT NOT NULL,
  value REAL,
  standard_error REAL,
  seconds REAL DEFAULT 0,
  version TEXT NOT NULL DEFAULT '',
  owner TEXT,         -- host/process/store, of the last claim
  heartbeat INTEGER,  -- Unix time when the owner was last known to live
  started TEXT,
  finished TEXT,
  UNIQUE (study, number, rung)
);
CREATE INDEX running_trials ON trials (owner) WHERE state = 'running';
CREATE TABLE settings (
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (trial, position)
) WITHOUT ROWID;
CREATE TABLE folds (
  trial INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  fold INTEGER NOT NULL,
  value REAL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  epochs INTEGER NOT NULL,
  best_epoch INTEGER NOT NULL,
  seconds REAL,
  PRIMARY KEY (trial, fold)
) WITHOUT ROWID;
CREATE TABLE scores (
  trial INTEGER NOT NULL,
  fold INTEGER NOT NULL,
  position INTEGER NOT NULL,
  train_view TEXT NOT NULL,
  test_view TEXT NOT NULL,
  metric TEXT NOT NULL,
  target TEXT NOT NULL,
  value REAL,
  samples INTEGER NOT NULL,
  PRIMARY KEY (trial, fold, position),
  FOREIGN KEY (trial, fold) REFERENCES folds ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE history (
  trial INTEGER NOT NULL,
  fold INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  task REAL,
  agreement REAL,
  decorrelation REAL,
  reconstruction REAL,
  separation REAL,
  weight_decay REAL,
  validation_score REAL,
  validation_loss REAL,
  sum_correlation REAL,
  PRIMARY KEY (trial, fold, epoch),
  FOREIGN KEY (trial, fold) REFERENCES folds ON DELETE CASCADE
) WITHOUT ROWID;
-- For people: finished trials of each study, those that went furthest first, then the best by the study's metric.
CREATE VIEW best AS
SELECT studies.name AS study, trials.rung, trials.number, trials.value, trials.standard_error, trials.seconds,
       (SELECT group_concat(name || '=' || value, ' ')
        FROM (SELECT name, value FROM settings WHERE trial = trials.id ORDER BY position)) AS settings
FROM trials JOIN studies ON studies.id = trials.study
WHERE trials.state = 'finished'
ORDER BY studies.id, trials.rung DESC,
         CASE WHEN EXISTS (SELECT 1 FROM study_settings
                           WHERE study = studies.id AND key = 'better' AND value = 'smaller')
              THEN -trials.value ELSE trials.value END DESC;
)";

int number(SQLite::Database& database, const char* sql) { return database.execAndGet(sql).getInt(); }

bool is_new(SQLite::Database& database) {
  return number(database, "PRAGMA application_id") == 0 && number(database, "SELECT count(*) FROM sqlite_master") == 0;
}

void make_tables(SQLite::Database& database) {
  database.exec(kSchema);
  database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", kFormat));
}

void require_format(SQLite::Database& database, const std::string& path) {
  if (number(database, "PRAGMA application_id") != kApplicationId) {
    throw InputError(path, "this SQLite file is another program's, not a trial store; choose another --store file");
  }
  const int format = number(database, "PRAGMA user_version");
  if (format == kFormat) return;
  throw InputError(path, fmt::format("the trial store is of another format: got {}, need {}; use the version of tocca "
                                     "that made it, or choose another --store file",
                                     format, kFormat));
}

// Whoever of several processes gets the lock first makes the tables, and the others find them.
void make_or_check(SQLite::Database& database, const std::string& path) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  if (is_new(database)) {
    make_tables(database);
  } else {
    require_format(database, path);
  }
  transaction.commit();
}

// For this change, unlike all others, SQLite does not wait itself until the other processes let it.
void use_wal(SQLite::Database& database) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStorePatience);
  int code = database.tryExec("PRAGMA journal_mode = WAL");
  while (code == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    code = database.tryExec("PRAGMA journal_mode = WAL");
  }
  database.check(code);
}

// Never just ":memory:" or "file:...", which are no names of files to SQLite.
std::string sqlite_path(const std::string& path) {
  if (path.empty()) return ":memory:";
  return path.front() == '/' ? path : "./" + path;
}

}  // namespace

SQLite::Database open_trial_store(const std::string& path) {
  try {
    SQLite::Database database(sqlite_path(path), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kStorePatience);
    make_or_check(database, path);
    use_wal(database);
    // FULL: a finished fold is worth hours and its checkpoint is gone, so that it should survive a power cut, too.
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA foreign_keys = ON");
    return database;
  } catch (const SQLite::Exception& error) {
    throw_store_error(path, error);
  }
}

std::pair<std::uint64_t, std::uint64_t> file_number(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return {0, 0};
  return {status.st_dev, status.st_ino};
}

std::string store_name(const std::string& path) { return path.empty() ? "trial store" : path; }

void throw_store_error(const std::string& path, const SQLite::Exception& error) {
  const std::string where = store_name(path);
  switch (error.getErrorCode()) {
    case SQLITE_NOTADB:
      throw InputError(where, "this is no SQLite file, so no trial store; choose another --store file");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw InputError(where,
                       fmt::format("the trial store cannot be written: {}; choose a --store file in a folder that "
                                   "exists and that you may write to",
                                   error.what()));
    case SQLITE_BUSY:
      throw Error(where, fmt::format("another process has locked the trial store for more than {} seconds; try again "
                                     "when it has ended",
                                     kStorePatience / 1000));
    case SQLITE_FULL:
      throw Error(where, "the disk is full; free some space");
    default:
      throw Error(where, fmt::format("the trial store cannot be read or written: {}; check the disk and the file",
                                     error.what()));
  }
}

}  // namespace tocca::detail
