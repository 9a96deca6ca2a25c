#include "tocca/core/text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tocca {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// One row of the table of distances at a time: row[j] is the distance of a's first i letters to b's first j.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string without_place(const std::string& message) {
  const std::size_t end = message.find("] ");
  return message.starts_with('[') && end != std::string::npos ? message.substr(end + 2) : message;
}

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> candidates,
                                       std::size_t limit) {
  const std::size_t farthest = std::max<std::size_t>(2, word.size() / 2);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= farthest && distance < candidate.size()) near.emplace_back(distance, candidate);
  }
  // Stable: among equally near names the order of the list decides.
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(limit, near.size()); ++i) names.push_back(std::move(near[i].second));
  return names;
}

std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string> candidates) {
  std::string text;
  text.append("unknown ").append(what).append(" '").append(word).append("'");
  const std::vector<std::string> near = nearest_names(word, candidates);
  if (near.empty()) {
    text.append(". Known: ");
  } else {
    text.append(": did you mean ").append(join(near, ", ")).append("? Known: ");
  }
  return text.append(candidates.empty() ? "none" : join(candidates, ", "));
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace tocca
