/// Rows and fields of delimited text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca::detail {

/// Splits text as RFC 4180 says: fields may be quoted, quoted fields may hold delimiters, line ends and doubled
/// quotes. Lines end with LF, CR LF or CR. Fields are not copied: quoted ones are unescaped within the text.
class RowScanner {
 public:
  /// `text` must outlive the scanner and the fields; `path` is for messages.
  RowScanner(std::string& text, char delimiter, std::string path);

  /// The fields of the next row; false at the end. A blank line is a row with one empty field. Throws InputError: a
  /// quote that is never closed, text between a closing quote and the next delimiter.
  bool next(std::vector<std::string_view>& fields);
  /// The line on which the last row began; the first is 1.
  [[nodiscard]] Index line() const { return line_; }

 private:
  std::string_view field();
  std::string_view plain();
  std::string_view quoted();
  [[nodiscard]] bool ends_field() const;
  void skip_line_end();

  char* at_;
  char* end_;
  char delimiter_;
  std::string path_;
  Index line_ = 0;
  Index next_line_ = 1;
};

}  // namespace tocca::detail
