#include "tocca/data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace tocca {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool is_missing(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  if (text.empty()) return true;
  if (text.size() > 3 || is_digit(text.front())) return false;
  const std::string word = lower_case(text);
  return word == "na" || word == "nan";
}

std::optional<double> parse_number(std::string_view cell) {
  std::string_view text = trimmed(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty() || text.back() == ')') return std::nullopt;
  // from_chars leaves the value alone when it is out of range; strtod says whether it is infinite or next to zero.
  if (status == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  return status == std::errc() ? std::optional(value) : std::nullopt;
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string name_some(std::span<const std::string> names, std::size_t limit) {
  // "and 1 more" would take the room of the name itself.
  const std::size_t shown = names.size() <= limit + 1 ? names.size() : limit;
  std::string text = fmt::format("{}", fmt::join(names.first(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace tocca
