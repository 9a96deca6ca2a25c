#include "tocca/data/readers/delimited.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers/file.h"
#include "tocca/data/readers/label_column.h"
#include "tocca/data/readers/row_scanner.h"
#include "tocca/data/text.h"

namespace tocca::detail {
namespace {

using Fields = std::vector<std::string_view>;

bool is_blank(const Fields& fields) { return fields.size() == 1 && trimmed(fields[0]).empty(); }

/// ",0,1,2,...": what pandas writes above a frame whose columns have no names.
bool is_numbered_header(const Fields& fields) {
  if (fields.size() < 2 || !trimmed(fields[0]).empty()) return false;
  for (std::size_t j = 1; j < fields.size(); ++j) {
    if (trimmed(fields[j]) != std::to_string(j - 1)) return false;
  }
  return true;
}

bool is_header(const Fields& fields, const std::string& id_column) {
  const auto is_name = [&](std::string_view field) {
    const bool names_ids = !id_column.empty() && trimmed(field) == id_column;
    return names_ids || !(is_missing(field) || parse_number(field));
  };
  return is_numbered_header(fields) || std::any_of(fields.begin(), fields.end(), is_name);
}

bool is_id_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower.empty() || lower == "sample" || lower == "id";
}

std::string without_mark(std::string text, const std::string& path) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw InputError(path, "not a UTF-8 text: got UTF-16, need UTF-8; save it as CSV in UTF-8");
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

/// The rows of a file after its header, each checked to have as many fields as the first line.
class DelimitedRows {
 public:
  DelimitedRows(const std::string& path, char delimiter, const ReadOptions& options)
      : path_(path), text_(without_mark(read_file(path), path)), scanner_(text_, delimiter, path) {
    const auto lines = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n'));
    do {
      if (!scanner_.next(fields_)) {
        throw InputError(path_, "file is empty: got blank lines only, need a table; check how it was written");
      }
    } while (is_blank(fields_));
    width_ = fields_.size();
    // Every value but the last has a delimiter or a line end after it, which bounds what a wrong guess can cost.
    most_values_ = std::min(text_.size() / 2 + 1, (lines + 1) * width_);
    first_is_data_ = !is_header(fields_, options.id_column);
    name_columns();
    find_ids(options.id_column);
  }

  DelimitedRows(const DelimitedRows&) = delete;
  DelimitedRows& operator=(const DelimitedRows&) = delete;

  /// Goes to the next row; false at the end.
  bool next() {
    if (std::exchange(first_is_data_, false)) return true;
    do {
      if (!scanner_.next(fields_)) return false;
    } while (width_ > 1 && is_blank(fields_));
    if (fields_.size() != width_) {
      throw InputError(where(), fmt::format("row of the wrong length: got {} fields, need {} as in the first line; add "
                                            "or remove delimiters, or quote fields that hold one",
                                            fields_.size(), width_));
    }
    return true;
  }

  [[nodiscard]] bool has_ids() const { return id_ != kNone; }
  /// The columns besides the ids.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::size_t most_values() const { return most_values_; }

  [[nodiscard]] std::string_view text(std::size_t column) const { return fields_[column + (column >= id_ ? 1 : 0)]; }

  [[nodiscard]] double number(std::size_t column) const {
    const std::string_view cell = text(column);
    if (const std::optional<double> value = parse_number(cell)) return *value;
    if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
    throw InputError(where(),
                     fmt::format("not a number in column '{}': got '{}', need a number, or nothing or NA where "
                                 "it is missing; correct the cell, or name a column of sample ids with --id",
                                 columns_[column], cell));
  }

  [[nodiscard]] std::string id() const {
    const std::string_view id = trimmed(fields_[id_]);
    if (id.empty()) throw InputError(where(), "sample without an id: got an empty field, need an id; fill it in");
    return std::string(id);
  }

  /// Throws unless there was a row.
  void finish(bool any_row) const {
    if (any_row) return;
    throw InputError(path_, fmt::format("no rows: got a header of {} columns only, need a row for each sample; check "
                                        "how it was written",
                                        width_));
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] std::string where() const { return fmt::format("{}:{}", path_, scanner_.line()); }

  void name_columns() {
    std::unordered_set<std::string> seen;
    for (const std::string_view field : fields_) {
      columns_.emplace_back(first_is_data_ ? std::string_view() : trimmed(field));
      if (columns_.back().empty() || seen.insert(columns_.back()).second) continue;
      throw InputError(where(), fmt::format("column name occurs twice: got a second '{}', need distinct names; rename "
                                            "one of them",
                                            columns_.back()));
    }
  }

  void find_ids(const std::string& wanted) {
    if (!wanted.empty()) {
      const auto found = std::find(columns_.begin(), columns_.end(), wanted);
      if (found == columns_.end()) refuse_id_column(wanted);
      id_ = static_cast<std::size_t>(found - columns_.begin());
    } else if (!first_is_data_ && is_id_name(columns_.front())) {
      id_ = 0;
    }
    if (has_ids()) columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(id_));
    if (columns_.empty()) {
      throw InputError(path_, "no columns: got sample ids only, need at least one more column; check the file");
    }
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (columns_[j].empty()) columns_[j] = fmt::format("c{}", j);
    }
  }

  [[noreturn]] void refuse_id_column(const std::string& wanted) const {
    const std::string there =
        first_is_data_ ? std::string("a header line") : fmt::format("one of {}", name_some(columns_, 20));
    throw InputError(path_, fmt::format("id column not found: got '{}', need {}; check --id", wanted, there));
  }

  std::string path_;
  std::string text_;
  RowScanner scanner_;
  Fields fields_;
  std::size_t width_ = 0;
  std::size_t most_values_ = 0;
  bool first_is_data_ = false;
  std::vector<std::string> columns_;
  std::size_t id_ = kNone;
};

}  // namespace

TableFile read_delimited(const std::string& path, char delimiter, const ReadOptions& options) {
  DelimitedRows rows(path, delimiter, options);
  TableFile file{path, {}, rows.columns(), {}};
  const std::size_t width = file.features.size();
  const auto values = std::make_shared<std::vector<double>>();
  values->reserve(rows.most_values());
  while (rows.next()) {
    if (rows.has_ids()) file.ids.push_back(rows.id());
    for (std::size_t j = 0; j < width; ++j) values->push_back(rows.number(j));
  }
  rows.finish(!values->empty());
  const auto columns = static_cast<Index>(width);
  const auto samples = static_cast<Index>(values->size()) / columns;
  file.values = Table(values, values->data(), NumberType::f8, samples, columns, columns, 1);
  return file;
}

LabelColumn read_delimited_labels(const std::string& path, char delimiter, const std::string& column,
                                  const ReadOptions& options) {
  DelimitedRows rows(path, delimiter, options);
  const std::size_t chosen = find_label_column(path, rows.columns(), column);
  LabelColumn labels{path, rows.columns()[chosen], {}, {}};
  while (rows.next()) {
    if (rows.has_ids()) labels.ids.push_back(rows.id());
    labels.text.emplace_back(trimmed(rows.text(chosen)));
  }
  rows.finish(!labels.text.empty());
  return labels;
}

std::vector<std::string> read_delimited_columns(const std::string& path, char delimiter, const ReadOptions& options) {
  return DelimitedRows(path, delimiter, options).columns();
}

}  // namespace tocca::detail
