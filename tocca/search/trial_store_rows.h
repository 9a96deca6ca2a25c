/// Records of the trial store to rows of its tables and back.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <vector>

#include "tocca/search/trial_store.h"

namespace tocca::detail {

/// The pairs (text, text) that a statement returns.
NamedTexts read_texts(SQLite::Statement& statement);

/// Trials with all that belongs to them, by rung and number. `condition` on the columns of trials has one parameter.
std::vector<TrialRecord> read_trials(const SQLite::Database& database, const char* condition, std::int64_t parameter,
                                     bool with_history);

/// Writes a fold with its scores and history, in place of one of the same number.
void write_fold(const SQLite::Database& database, std::int64_t trial, const FoldRecord& fold);

}  // namespace tocca::detail
