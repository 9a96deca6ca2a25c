/// What a cell of a text file says, and lists of names in messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tocca {

/// Without spaces and tabs at either end.
std::string_view trimmed(std::string_view text);
/// ASCII letters in lower case.
std::string lower_case(std::string_view text);
/// Whether a cell holds no value: nothing, `NA` or `nan`, in any case, spaces aside.
bool is_missing(std::string_view cell);
/// The number a cell holds, in the notation of C with a decimal point (`-1.5e3`, `+2`, `inf`), spaces aside, whatever
/// the locale. A number too large for a double is infinite. Nothing if the cell is not wholly a number.
std::optional<double> parse_number(std::string_view cell);
/// A number as the shortest text that reads back as the same number: "7", "0.1".
std::string number_text(double value);
/// "a, b, c and 12 more": the first `limit` names.
std::string name_some(std::span<const std::string> names, std::size_t limit = 5);

}  // namespace tocca
