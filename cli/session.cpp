#include "cli/session.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tocca/core/version.h"
#include "tocca/report/records.h"

namespace tocca::cli {
namespace {

std::string quoted(const std::string& argument) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+@%{}";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Session::Session(const std::vector<std::string>& arguments, CommonOptions common, std::ostream& out, std::ostream& err)
    : arguments_(arguments), common_(std::move(common)), out_(out), progress_(err, common_.quiet) {}

void Session::result(std::string_view text) {
  progress_.clear();
  if (!common_.json) out_ << text;
}

void Session::note(std::string_view text) {
  if (!common_.quiet) result(text);
}

void Session::info(std::string_view text) {
  if (!common_.quiet) progress_.print(fmt::format("tocca: {}\n", text));
}

void Session::warn(std::string_view text) { progress_.print(fmt::format("tocca: warning: {}\n", text)); }

void Session::json(const nlohmann::ordered_json& rows, std::uint64_t seed, const nlohmann::ordered_json& more) {
  if (!common_.json) return;
  progress_.clear();
  using nlohmann::ordered_json;
  ordered_json object = {{"command", arguments_.front()}, {"version", version()}, {"seed", seed}};
  if (!more.is_null()) object.update(more);
  object["rows"] = rows;
  // File names may hold bytes that are not UTF-8; a replacement character is better than no output.
  out_ << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

Context Session::context(Index threads) {
  Context context = make_context(static_cast<int>(threads));
  context.log = [this](LogLevel level, std::string_view text) { level == LogLevel::info ? info(text) : warn(text); };
  if (progress_.draws()) context.progress = [this](const Progress& state) { progress_.show(state); };
  return context;
}

Context Session::context() {
  Options options;
  apply_common(options);
  return context(options.threads);
}

void Session::apply_common(Options& options) const {
  if (!common_.threads.empty()) set_option(options, "threads", common_.threads);
  if (!common_.seed.empty()) set_option(options, "seed", common_.seed);
}

std::string Session::command_line() const {
  std::string line = "tocca";
  for (const std::string& argument : arguments_) line += ' ' + quoted(argument);
  return line;
}

Report Session::report(std::string title, std::uint64_t seed) const {
  return {command_line(), std::string(version()), seed, std::move(title), {}, {}, {}};
}

nlohmann::ordered_json json_rows(const std::vector<ResultRow>& rows) {
  Report report;
  report.rows = rows;
  return nlohmann::ordered_json::parse(tocca::json(report)).at("rows");
}

}  // namespace tocca::cli
