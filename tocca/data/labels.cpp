#include "tocca/data/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca {
namespace {

std::optional<double> finite_number(std::string_view text) {
  const std::optional<double> number = parse_number(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

bool is_unlabelled(std::string_view text) { return is_missing(text) || parse_number(text) == -1.0; }

bool all_numbers(std::span<const std::string> names) {
  return std::all_of(names.begin(), names.end(), [](const std::string& name) { return finite_number(name); });
}

/// The text under which a label is looked up: one for each number, however it was written, among numeric classes.
std::string class_key(std::string_view text, bool numeric) {
  const std::optional<double> number = numeric ? finite_number(text) : std::nullopt;
  // Adding zero makes −0 the class "0".
  return number ? number_text(*number + 0.0) : std::string(trimmed(text));
}

std::vector<std::string> find_classes(std::span<const std::string> text) {
  std::vector<std::string> names;
  for (const std::string& label : text) {
    if (!is_unlabelled(label)) names.emplace_back(trimmed(label));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (!all_numbers(names)) return names;

  std::map<double, std::string> by_value;
  for (const std::string& name : names) by_value.emplace(*finite_number(name), class_key(name, true));
  std::vector<std::string> ordered;
  for (auto& [value, name] : by_value) ordered.push_back(std::move(name));
  return ordered;
}

[[noreturn]] void refuse_label(const std::string& label, std::size_t row, const std::vector<std::string>& classes) {
  throw InputError("labels", fmt::format("unknown class in row {}: got '{}', need one of {}, or nothing, NA or -1 for "
                                         "a sample without label; correct it, or fit a model with that class",
                                         row + 1, label, name_some(classes, 20)));
}

}  // namespace

Index Labels::labelled() const {
  return std::count_if(codes.begin(), codes.end(), [](int code) { return code >= 0; });
}

Labels Labels::select(std::span<const Index> chosen) const {
  Labels some{{}, classes};
  some.codes.reserve(chosen.size());
  for (const Index sample : chosen) some.codes.push_back(codes[static_cast<std::size_t>(sample)]);
  return some;
}

Labels make_labels(std::span<const std::string> text) { return make_labels(text, find_classes(text)); }

Labels make_labels(std::span<const std::string> text, const std::vector<std::string>& classes) {
  const bool numeric = all_numbers(classes);
  std::map<std::string, int> codes;
  for (const std::string& name : classes) codes.emplace(class_key(name, numeric), static_cast<int>(codes.size()));

  Labels labels{{}, classes};
  labels.codes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_unlabelled(text[i])) {
      labels.codes.push_back(-1);
      continue;
    }
    const auto found = codes.find(class_key(text[i], numeric));
    if (found == codes.end()) refuse_label(text[i], i, classes);
    labels.codes.push_back(found->second);
  }
  return labels;
}

}  // namespace tocca
