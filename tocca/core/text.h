/// Small pieces of text for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tocca {

/// The items, each converted to std::string_view, with `separator` between them.
template <class Range>
std::string join(const Range& items, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text.append(separator);
    text.append(std::string_view(item));
    first = false;
  }
  return text;
}

/// A field of a CSV file: in double quotes, with its own doubled, where it holds a comma, a quote or a line end (RFC
/// 4180).
std::string csv_field(const std::string& text);

/// The text of an error without the place it begins with, for a message that names another place:
/// "[options] epochs: got 0" becomes "epochs: got 0".
std::string without_place(const std::string& message);

/// The candidates that `word` may be a misspelling of, nearest first, at most `limit`. Nearness is the edit distance
/// (Levenshtein) without regard to case; what differs in more than half the letters of `word` (and more than two) is
/// not offered.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> candidates,
                                       std::size_t limit = 3);

/// The text of an error about a name that is not in a list:
/// `unknown method 'tocca-x': did you mean tocca-w, tocca-nd? Known: cca, tocca-w, tocca-nd`.
std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string> candidates);

}  // namespace tocca
