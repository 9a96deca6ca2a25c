#include "tocca/data/readers/row_scanner.h"

#include <fmt/format.h>

#include <utility>

#include "tocca/core/error.h"

namespace tocca::detail {

RowScanner::RowScanner(std::string& text, char delimiter, std::string path)
    : at_(text.data()), end_(text.data() + text.size()), delimiter_(delimiter), path_(std::move(path)) {}

bool RowScanner::next(std::vector<std::string_view>& fields) {
  fields.clear();
  if (at_ == end_) return false;
  line_ = next_line_;
  fields.push_back(field());
  while (at_ != end_ && *at_ == delimiter_) {
    ++at_;
    fields.push_back(field());
  }
  skip_line_end();
  return true;
}

std::string_view RowScanner::field() { return at_ != end_ && *at_ == '"' ? quoted() : plain(); }

std::string_view RowScanner::plain() {
  const char* first = at_;
  while (!ends_field()) ++at_;
  return {first, static_cast<std::size_t>(at_ - first)};
}

std::string_view RowScanner::quoted() {
  const Index opened = next_line_;
  char* const first = ++at_;
  char* write = first;
  for (; at_ != end_; *write++ = *at_++) {
    if (*at_ == '\n') ++next_line_;
    if (*at_ != '"') continue;
    if (at_ + 1 == end_ || at_[1] != '"') break;
    ++at_;
  }
  if (at_ == end_) {
    throw InputError(fmt::format("{}:{}", path_, opened),
                     "quote is never closed: got the end of the file, need a closing quote; close it, or take it away");
  }
  ++at_;
  while (at_ != end_ && *at_ == ' ') ++at_;
  if (!ends_field()) {
    throw InputError(
        fmt::format("{}:{}", path_, next_line_),
        fmt::format("text after a closing quote: got '{}', need a delimiter or the end of the line; double "
                    "a quote that belongs to the text",
                    *at_));
  }
  return {first, static_cast<std::size_t>(write - first)};
}

bool RowScanner::ends_field() const { return at_ == end_ || *at_ == delimiter_ || *at_ == '\n' || *at_ == '\r'; }

void RowScanner::skip_line_end() {
  if (at_ != end_ && *at_ == '\r') ++at_;
  // A lone CR ends a line too; in CR LF the CR was just passed.
  if (at_ != end_ && *at_ == '\n') ++at_;
  ++next_line_;
}

}  // namespace tocca::detail
