#include "tocca/search/trial_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/version.h"
#include "tocca/data/fingerprint.h"
#include "tocca/metrics/mean.h"
#include "tocca/search/claim_owner.h"
#include "tocca/search/trial_store_file.h"
#include "tocca/search/trial_store_rows.h"

namespace tocca {
namespace {

using detail::execute;
using detail::prepare;
using SQLite::TransactionBehavior;

constexpr std::chrono::seconds kRenewal{5};
constexpr int kRenewalPatience = 1000;  // milliseconds; the destructor may have to wait for it

std::optional<std::string> value_of(const NamedTexts& texts, const std::string& key) {
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.first == key; });
  if (found == texts.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> first_difference(const NamedTexts& there, const NamedTexts& wanted) {
  for (const auto& [key, value] : wanted) {
    if (value_of(there, key) != value) return key;
  }
  for (const auto& [key, value] : there) {
    if (!value_of(wanted, key)) return key;
  }
  return std::nullopt;
}

std::string checkpoint_folder(const std::string& path) { return path + ".checkpoints"; }

// Of a long one, such as a whole space, the piece where it begins to differ from the other.
std::string quoted(const std::optional<std::string>& text, const std::optional<std::string>& other) {
  constexpr std::size_t kShown = 80, kBefore = 20;
  if (!text) return "none";
  if (text->size() <= kShown) return fmt::format("'{}'", *text);
  const std::string& against = other ? *other : *text;
  const auto differs = std::mismatch(text->begin(), text->end(), against.begin(), against.end()).first;
  const auto at = static_cast<std::size_t>(differs - text->begin());
  const std::size_t first = at > kShown ? at - kBefore : 0;
  return fmt::format("'{}{}{}'", first > 0 ? "..." : "", text->substr(first, kShown),
                     first + kShown < text->size() ? "..." : "");
}

}  // namespace

std::string_view name_of(TrialState state) {
  switch (state) {
    case TrialState::waiting:
      return "waiting";
    case TrialState::running:
      return "running";
    case TrialState::finished:
      return "finished";
    case TrialState::failed:
      return "failed";
  }
  return "unknown";
}

struct TrialStore::State {
  explicit State(const std::string& its_path)
      : path(its_path),
        owner(detail::new_owner()),
        database(detail::open_trial_store(path)),
        number(detail::file_number(path)),
        heartbeat([this](const std::stop_token& stop) { keep_alive(stop); }) {}

  template <class Work>
  auto read(const Work& work) {
    return in_transaction(TransactionBehavior::DEFERRED, work);
  }
  // Immediate: what is read first is still so when the write comes.
  template <class Work>
  auto write(const Work& work) {
    require_same_file();
    return in_transaction(TransactionBehavior::IMMEDIATE, work);
  }

  void require_same_file() const;
  std::optional<Study> find_study(const std::string& name) const;
  Study make_study(const std::string& name, const NamedTexts& description) const;
  NamedTexts description(Study study) const;
  std::string print(Study study) const;
  void free_lost_claims(Study study);
  std::optional<std::int64_t> next_trial(Study study, Index rung, Index limit) const;
  bool holds(std::int64_t trial);
  double set_results(std::int64_t trial) const;
  void release_all();

  const std::string path;
  const std::string owner;  // of this store's claims
  std::mutex mutex;         // of the database
  SQLite::Database database;
  const std::pair<std::uint64_t, std::uint64_t> number;  // of the file when it was opened
  std::condition_variable_any wake;
  std::jthread heartbeat;

 private:
  template <class Work>
  auto in_transaction(TransactionBehavior behavior, const Work& work) {
    const std::lock_guard<std::mutex> guard(mutex);
    try {
      SQLite::Transaction transaction(database, behavior);
      auto result = work();
      transaction.commit();
      return result;
    } catch (const SQLite::Exception& error) {
      detail::throw_store_error(path, error);
    }
  }

  void keep_alive(const std::stop_token& stop) {
    std::unique_lock<std::mutex> lock(mutex);
    while (!wake.wait_for(lock, stop, kRenewal, [&] { return stop.stop_requested(); })) renew();
  }
  void renew();
};

// SQLite would go on writing to a file that is no longer there.
void TrialStore::State::require_same_file() const {
  if (path.empty() || detail::file_number(path) == number) return;
  throw Error(path, "the trial store was removed or replaced while it was in use; what was done since then is lost");
}

// A renewal that fails leaves eleven more before the claims are lost.
void TrialStore::State::renew() {
  try {
    database.setBusyTimeout(kRenewalPatience);
    execute(database, "UPDATE trials SET heartbeat = ? WHERE owner = ? AND state = 'running'", detail::unix_time(),
            owner);
  } catch (const SQLite::Exception&) {
  }
  database.setBusyTimeout(detail::kStorePatience);
}

std::optional<TrialStore::Study> TrialStore::State::find_study(const std::string& name) const {
  SQLite::Statement row = prepare(database, "SELECT id FROM studies WHERE name = ?", name);
  if (!row.executeStep()) return std::nullopt;
  return row.getColumn(0).getInt64();
}

TrialStore::Study TrialStore::State::make_study(const std::string& name, const NamedTexts& description) const {
  execute(database, "INSERT INTO studies (name) VALUES (?)", name);
  const Study study = database.getLastInsertRowid();
  Index position = 0;
  for (const auto& [key, value] : description) {
    execute(database, "INSERT INTO study_settings (study, key, value, position) VALUES (?, ?, ?, ?)", study, key, value,
            position++);
  }
  return study;
}

NamedTexts TrialStore::State::description(Study study) const {
  SQLite::Statement rows =
      prepare(database, "SELECT key, value FROM study_settings WHERE study = ? ORDER BY position", study);
  return detail::read_texts(rows);
}

// By what a study is, not by its row: a store that was deleted and begun anew has other studies in the same rows.
std::string TrialStore::State::print(Study study) const {
  Fingerprint print;
  SQLite::Statement row = prepare(database, "SELECT name FROM studies WHERE id = ?", study);
  if (row.executeStep()) print.add(row.getColumn(0).getString());
  for (const auto& [key, value] : description(study)) {
    print.add(key);
    print.add(value);
  }
  return print.text();
}

void TrialStore::State::free_lost_claims(Study study) {
  std::vector<std::int64_t> lost;
  SQLite::Statement rows =
      prepare(database, "SELECT id, owner, heartbeat FROM trials WHERE study = ? AND state = 'running'", study);
  while (rows.executeStep()) {
    const std::string its_owner = rows.getColumn(1).getString();
    if (its_owner != owner && detail::is_gone(its_owner, rows.getColumn(2).getInt64())) {
      lost.push_back(rows.getColumn(0).getInt64());
    }
  }
  for (const std::int64_t trial : lost) {
    execute(database, "UPDATE trials SET state = 'waiting', owner = NULL WHERE id = ?", trial);
  }
}

std::optional<std::int64_t> TrialStore::State::next_trial(Study study, Index rung, Index limit) const {
  SQLite::Statement row = prepare(database,
                                  "SELECT id FROM trials WHERE study = ? AND rung = ? AND number < ? "
                                  "AND state = 'waiting' ORDER BY number LIMIT 1",
                                  study, rung, limit);
  if (!row.executeStep()) return std::nullopt;
  return row.getColumn(0).getInt64();
}

bool TrialStore::State::holds(std::int64_t trial) {
  return prepare(database, "SELECT 1 FROM trials WHERE id = ? AND owner = ? AND state = 'running'", trial, owner)
      .executeStep();
}

double TrialStore::State::set_results(std::int64_t trial) const {
  const TrialRecord record = detail::read_trials(database, "id = ?", trial, false).front();
  std::vector<double> values;
  double seconds = 0;
  for (const FoldRecord& fold : record.folds) {
    values.push_back(fold.value);
    seconds += fold.seconds;
  }
  const MeanAndError mean = mean_and_standard_error(values);
  // A mean over the folds that could be measured would make a trial that often fails look good.
  const bool complete = mean.count == static_cast<Index>(values.size());
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double value = complete ? mean.mean : none;
  execute(database, "UPDATE trials SET value = ?, standard_error = ?, seconds = ? WHERE id = ?", value,
          complete ? mean.standard_error : none, seconds, trial);
  return value;
}

void TrialStore::State::release_all() {
  write([&] {
    execute(database, "UPDATE trials SET state = 'waiting', owner = NULL WHERE owner = ? AND state = 'running'", owner);
    // Within the transaction: who claims a trial after it makes the folder anew. One with states in it stays.
    const bool idle = !prepare(database, "SELECT 1 FROM trials WHERE state = 'running'").executeStep();
    std::error_code ignored;
    if (idle && !path.empty()) std::filesystem::remove(checkpoint_folder(path), ignored);
    return idle;
  });
}

TrialStore::TrialStore(const std::string& path) : state_(std::make_unique<State>(path)) {}

TrialStore::~TrialStore() {
  state_->heartbeat.request_stop();
  state_->heartbeat.join();
  try {
    state_->release_all();
  } catch (const Error&) {  // the claims expire
  }
}

TrialStore::Study TrialStore::study(const std::string& name, const NamedTexts& description) {
  return state_->write([&] {
    const auto study = state_->find_study(name);
    if (!study) return state_->make_study(name, description);
    const NamedTexts there = state_->description(*study);
    const auto key = first_difference(there, description);
    if (!key) return *study;
    throw InputError(
        detail::store_name(path()),
        fmt::format("study '{}' is there with another {}: got {}, need {}; choose another store (or, in a search, "
                    "--study), or repeat what it was begun with",
                    name, *key, quoted(value_of(description, *key), value_of(there, *key)),
                    quoted(value_of(there, *key), value_of(description, *key))));
  });
}

std::vector<std::pair<std::string, NamedTexts>> TrialStore::studies() const {
  return state_->read([&] {
    std::vector<std::pair<std::string, NamedTexts>> result;
    SQLite::Statement rows(state_->database, "SELECT id, name FROM studies ORDER BY id");
    while (rows.executeStep()) {
      result.emplace_back(rows.getColumn(1).getString(), state_->description(rows.getColumn(0).getInt64()));
    }
    return result;
  });
}

std::optional<TrialStore::Study> TrialStore::find_study(const std::string& name) const {
  return state_->read([&] { return state_->find_study(name); });
}

void TrialStore::add(Study study, std::span<const NewTrial> trials) {
  state_->write([&] {
    SQLite::Statement insert(state_->database,
                             "INSERT INTO trials (study, number, rung, seed) VALUES (?, ?, ?, ?) "
                             "ON CONFLICT (study, number, rung) DO NOTHING");
    SQLite::Statement set(state_->database, "INSERT INTO settings (trial, name, value, position) VALUES (?, ?, ?, ?)");
    for (const NewTrial& trial : trials) {
      detail::rebind(insert, study, trial.number, trial.rung, std::to_string(trial.seed));
      if (insert.exec() == 0) continue;
      const std::int64_t id = state_->database.getLastInsertRowid();
      Index position = 0;
      for (const auto& [name, value] : trial.settings) {
        detail::rebind(set, id, name, value, position++);
        set.exec();
      }
    }
    return true;
  });
}

std::optional<TrialStore::Claim> TrialStore::claim(Study study, Index rung, Index limit) {
  return state_->write([&]() -> std::optional<Claim> {
    state_->free_lost_claims(study);
    const auto trial = state_->next_trial(study, rung, limit);
    if (!trial) return std::nullopt;
    execute(state_->database,
            "UPDATE trials SET state = 'running', owner = ?, heartbeat = ?, version = ?, "
            "started = coalesce(started, CURRENT_TIMESTAMP) WHERE id = ?",
            state_->owner, detail::unix_time(), std::string(version()), *trial);
    return Claim{study, *trial, detail::read_trials(state_->database, "id = ?", *trial, true).front()};
  });
}

bool TrialStore::keep_fold(const Claim& claim, const FoldRecord& fold) {
  return state_->write([&] {
    if (!state_->holds(claim.trial)) return false;
    detail::write_fold(state_->database, claim.trial, fold);
    return true;
  });
}

std::optional<double> TrialStore::finish(const Claim& claim) {
  return state_->write([&]() -> std::optional<double> {
    if (!state_->holds(claim.trial)) return std::nullopt;
    const double value = state_->set_results(claim.trial);
    execute(state_->database, "UPDATE trials SET state = 'finished', finished = CURRENT_TIMESTAMP WHERE id = ?",
            claim.trial);
    return value;
  });
}

bool TrialStore::fail(const Claim& claim, const std::string& reason) {
  return state_->write([&] {
    return execute(state_->database,
                   "UPDATE trials SET state = 'failed', reason = ?, finished = CURRENT_TIMESTAMP "
                   "WHERE id = ? AND owner = ? AND state = 'running'",
                   reason, claim.trial, state_->owner) == 1;
  });
}

bool TrialStore::release(const Claim& claim) {
  return state_->write([&] {
    return execute(state_->database,
                   "UPDATE trials SET state = 'waiting', owner = NULL WHERE id = ? AND owner = ? AND state = 'running'",
                   claim.trial, state_->owner) == 1;
  });
}

std::vector<TrialRecord> TrialStore::trials(Study study, bool with_history) const {
  return state_->read([&] { return detail::read_trials(state_->database, "study = ?", study, with_history); });
}

Index TrialStore::unfinished(Study study, Index rung, Index limit) const {
  return state_->read([&]() -> Index {
    SQLite::Statement row = prepare(state_->database,
                                    "SELECT count(*) FROM trials WHERE study = ? AND rung = ? AND number < ? "
                                    "AND state IN ('waiting', 'running')",
                                    study, rung, limit);
    row.executeStep();
    return row.getColumn(0).getInt64();
  });
}

std::string TrialStore::checkpoint(const Claim& claim, Index fold) const {
  if (path().empty()) return {};
  const std::string folder = checkpoint_folder(path());
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) {
    throw InputError(path(), fmt::format("the folder {} cannot be made: {}; choose a --store file in a folder that you "
                                         "may write to",
                                         folder, error.message()));
  }
  // Without the rung: a later one goes on where the earlier one stopped.
  return fmt::format("{}/{}-trial{}-fold{}.safetensors", folder,
                     state_->read([&] { return state_->print(claim.study); }), claim.record.number, fold);
}

void TrialStore::forget_checkpoints(const Claim& claim, Index folds) const {
  for (Index fold = 0; fold < folds && !path().empty(); ++fold) {
    std::error_code ignored;
    std::filesystem::remove(checkpoint(claim, fold), ignored);
  }
}

const std::string& TrialStore::path() const { return state_->path; }

}  // namespace tocca
