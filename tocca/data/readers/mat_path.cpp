#include "tocca/data/readers/mat_path.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca::detail {
namespace {

/// Takes `{2}` or `(2)` off the end of a name; 0 if there is neither.
Index take_cell(const std::string& file, std::string_view& name) {
  const bool curly = name.ends_with('}');
  if (!curly && !name.ends_with(')')) return 0;
  const std::size_t open = name.find(curly ? '{' : '(');
  const std::string_view inside = open == std::string_view::npos ? "" : name.substr(open + 1, name.size() - open - 2);
  Index cell = 0;
  const auto [end, status] = std::from_chars(inside.data(), inside.data() + inside.size(), cell);
  if (status != std::errc() || end != inside.data() + inside.size() || cell < 1) {
    throw InputError(file, fmt::format("cell not understood: got '{}', need a number from 1 on, as in X{{2}}; correct "
                                       "the path",
                                       name));
  }
  name = name.substr(0, open);
  return cell;
}

}  // namespace

std::string MatPath::array() const { return cell > 0 ? fmt::format("{}{{{}}}", variable, cell) : variable; }

std::string MatPath::text() const { return fmt::format("{}:{}{}", file, array(), transposed ? "'" : ""); }

std::string mat_file_of(const std::string& path) {
  const std::size_t colon = path.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || !lower_case(path.substr(0, colon)).ends_with(".mat")) return path;
  return std::filesystem::exists(path, ignored) ? path : path.substr(0, colon);
}

MatPath parse_mat_path(const std::string& path) {
  const std::string file = mat_file_of(path);
  if (file.size() == path.size()) return {file, "", 0, false};
  return parse_mat_array(file, std::string_view(path).substr(file.size() + 1));
}

MatPath parse_mat_array(const std::string& file, std::string_view array) {
  std::string_view name = array;
  const bool transposed = name.ends_with('\'');
  if (transposed) name.remove_suffix(1);
  const Index cell = take_cell(file, name);
  if (name.empty()) {
    throw InputError(
        file, fmt::format("no variable named: got '{0}', need {1}:VAR; write its name after the ':'", array, file));
  }
  return {file, std::string(name), cell, transposed};
}

}  // namespace tocca::detail
