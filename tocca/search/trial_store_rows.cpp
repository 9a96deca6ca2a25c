#include "tocca/search/trial_store_rows.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>

#include "tocca/core/error.h"
#include "tocca/search/trial_store_file.h"

namespace tocca::detail {
namespace {

constexpr const char* kTrials =
    "SELECT number, rung, state, reason, seed, value, standard_error, seconds, version, id FROM trials WHERE ";
constexpr const char* kInOrder = " ORDER BY rung, number";
constexpr const char* kSettings = "SELECT name, value FROM settings WHERE trial = ? ORDER BY position";
constexpr const char* kFolds =
    "SELECT fold, value, status, message, epochs, best_epoch, seconds FROM folds WHERE trial = ? ORDER BY fold";
constexpr const char* kScores =
    "SELECT train_view, test_view, metric, value, samples, target FROM scores WHERE trial = ? AND fold = ? "
    "ORDER BY position";
constexpr const char* kHistory =
    "SELECT epoch, task, agreement, decorrelation, reconstruction, separation, weight_decay, validation_score, "
    "validation_loss, sum_correlation FROM history WHERE trial = ? AND fold = ? ORDER BY epoch";

constexpr const char* kDeleteFold = "DELETE FROM folds WHERE trial = ? AND fold = ?";
constexpr const char* kInsertFold =
    "INSERT INTO folds (trial, fold, value, status, message, epochs, best_epoch, seconds) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertScore =
    "INSERT INTO scores (trial, fold, position, train_view, test_view, metric, value, samples, target) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertEpoch =
    "INSERT INTO history (trial, fold, epoch, task, agreement, decorrelation, reconstruction, separation, "
    "weight_decay, validation_score, validation_loss, sum_correlation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

double real(const SQLite::Column& column) {
  return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

// People may have changed the file with other tools, so that what is read is checked.
TrialState state_of(const std::string& text) {
  for (const auto state : {TrialState::waiting, TrialState::running, TrialState::finished, TrialState::failed}) {
    if (text == name_of(state)) return state;
  }
  throw Error(
      "trial store",
      fmt::format("state of a trial: got '{}', need waiting, running, finished or failed; mend the file", text));
}

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, seed);
  if (result.ec == std::errc() && result.ptr == end) return seed;
  throw Error("trial store",
              fmt::format("seed of a trial: got '{}', need a whole number below 2^64; mend the file", text));
}

// The statements are prepared once for all trials.
class Reader {
 public:
  explicit Reader(const SQLite::Database& database)
      : settings_(database, kSettings),
        folds_(database, kFolds),
        scores_(database, kScores),
        history_(database, kHistory) {}

  TrialRecord trial(const SQLite::Statement& row, bool with_history) {
    TrialRecord record;
    record.number = row.getColumn(0).getInt64();
    record.rung = row.getColumn(1).getInt64();
    record.state = state_of(row.getColumn(2).getString());
    record.reason = row.getColumn(3).getString();
    record.seed = seed_of(row.getColumn(4).getString());
    record.value = real(row.getColumn(5));
    record.standard_error = real(row.getColumn(6));
    record.seconds = real(row.getColumn(7));
    record.version = row.getColumn(8).getString();
    const std::int64_t id = row.getColumn(9).getInt64();
    rebind(settings_, id);
    record.settings = read_texts(settings_);
    record.folds = folds(id, with_history);
    return record;
  }

 private:
  std::vector<FoldRecord> folds(std::int64_t trial, bool with_history) {
    std::vector<FoldRecord> records;
    rebind(folds_, trial);
    while (folds_.executeStep()) {
      FoldRecord& record = records.emplace_back();
      record.fold = folds_.getColumn(0).getInt64();
      record.value = real(folds_.getColumn(1));
      record.status = folds_.getColumn(2).getString();
      record.message = folds_.getColumn(3).getString();
      record.epochs = folds_.getColumn(4).getInt64();
      record.best_epoch = folds_.getColumn(5).getInt64();
      record.seconds = real(folds_.getColumn(6));
      record.scores = scores(trial, record.fold);
      if (with_history) record.history = history(trial, record.fold);
    }
    return records;
  }

  std::vector<Score> scores(std::int64_t trial, Index fold) {
    std::vector<Score> records;
    rebind(scores_, trial, fold);
    while (scores_.executeStep()) {
      Score& record = records.emplace_back();
      record.train_view = scores_.getColumn(0).getString();
      record.test_view = scores_.getColumn(1).getString();
      record.metric = scores_.getColumn(2).getString();
      record.value = real(scores_.getColumn(3));
      record.samples = scores_.getColumn(4).getInt64();
      record.target = scores_.getColumn(5).getString();
    }
    return records;
  }

  std::vector<EpochRecord> history(std::int64_t trial, Index fold) {
    std::vector<EpochRecord> records;
    rebind(history_, trial, fold);
    while (history_.executeStep()) {
      EpochRecord& record = records.emplace_back();
      record.epoch = history_.getColumn(0).getInt();
      record.terms.task = real(history_.getColumn(1));
      record.terms.agreement = real(history_.getColumn(2));
      record.terms.decorrelation = real(history_.getColumn(3));
      record.terms.reconstruction = real(history_.getColumn(4));
      record.terms.separation = real(history_.getColumn(5));
      record.weight_decay = real(history_.getColumn(6));
      record.validation_score = real(history_.getColumn(7));
      record.validation_loss = real(history_.getColumn(8));
      record.sum_correlation = real(history_.getColumn(9));
    }
    return records;
  }

  SQLite::Statement settings_;
  SQLite::Statement folds_;
  SQLite::Statement scores_;
  SQLite::Statement history_;
};

void write_scores(const SQLite::Database& database, std::int64_t trial, const FoldRecord& fold) {
  SQLite::Statement insert(database, kInsertScore);
  Index position = 0;
  for (const Score& score : fold.scores) {
    rebind(insert, trial, fold.fold, position++, score.train_view, score.test_view, score.metric, score.value,
           score.samples, score.target);
    insert.exec();
  }
}

void write_history(const SQLite::Database& database, std::int64_t trial, const FoldRecord& fold) {
  SQLite::Statement insert(database, kInsertEpoch);
  for (const EpochRecord& epoch : fold.history) {
    const LossTerms& terms = epoch.terms;
    rebind(insert, trial, fold.fold, epoch.epoch, terms.task, terms.agreement, terms.decorrelation,
           terms.reconstruction, terms.separation, epoch.weight_decay, epoch.validation_score, epoch.validation_loss,
           epoch.sum_correlation);
    insert.exec();
  }
}

}  // namespace

NamedTexts read_texts(SQLite::Statement& statement) {
  NamedTexts texts;
  while (statement.executeStep()) {
    texts.emplace_back(statement.getColumn(0).getString(), statement.getColumn(1).getString());
  }
  return texts;
}

std::vector<TrialRecord> read_trials(const SQLite::Database& database, const char* condition, std::int64_t parameter,
                                     bool with_history) {
  std::vector<TrialRecord> records;
  Reader reader(database);
  const std::string sql = std::string(kTrials) + condition + kInOrder;
  SQLite::Statement rows = prepare(database, sql.c_str(), parameter);
  while (rows.executeStep()) records.push_back(reader.trial(rows, with_history));
  return records;
}

void write_fold(const SQLite::Database& database, std::int64_t trial, const FoldRecord& fold) {
  execute(database, kDeleteFold, trial, fold.fold);
  execute(database, kInsertFold, trial, fold.fold, fold.value, fold.status, fold.message, fold.epochs, fold.best_epoch,
          fold.seconds);
  write_scores(database, trial, fold);
  write_history(database, trial, fold);
}

}  // namespace tocca::detail
