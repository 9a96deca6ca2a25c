/// The SQLite file of a trial store: how it is opened, what its errors say, and statements in one line.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <cstdint>
#include <string>
#include <utility>

namespace tocca::detail {

/// How long to wait for another process that writes, in milliseconds.
constexpr int kStorePatience = 30000;

/// Opens or makes a trial store; an empty path: in memory. Throws InputError for another program's file, which stays as
/// it is, for a later format, and for a path that cannot be written to; Error for what failed otherwise.
SQLite::Database open_trial_store(const std::string& path);

/// What tells a file from another of the same name: device and inode; zeros where there is none.
std::pair<std::uint64_t, std::uint64_t> file_number(const std::string& path);

/// What error messages call the store.
std::string store_name(const std::string& path);

/// Throws the InputError or Error that tells what SQLite's exception means for the user.
[[noreturn]] void throw_store_error(const std::string& path, const SQLite::Exception& error);

/// A statement with its parameters, in their order.
template <class... Values>
SQLite::Statement prepare(const SQLite::Database& database, const char* sql, const Values&... values) {
  SQLite::Statement statement(database, sql);
  SQLite::bind(statement, values...);
  return statement;
}

/// Runs a statement that returns no rows; returns how many it changed.
template <class... Values>
int execute(const SQLite::Database& database, const char* sql, const Values&... values) {
  return prepare(database, sql, values...).exec();
}

/// Binds other values to a statement that may have run before.
template <class... Values>
void rebind(SQLite::Statement& statement, const Values&... values) {
  statement.reset();
  SQLite::bind(statement, values...);
}

}  // namespace tocca::detail
