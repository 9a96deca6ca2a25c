#include "tocca/data/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/data/text.h"

namespace tocca {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr std::pair<std::string_view, TargetKind> kKinds[] = {{"classification", TargetKind::classification},
                                                              {"regression", TargetKind::regression},
                                                              {"survival", TargetKind::survival},
                                                              {"multilabel", TargetKind::multilabel}};

[[noreturn]] void refuse(const std::string& column, std::size_t row, const std::string& cell, const char* need) {
  throw InputError("labels", fmt::format("column '{}', row {}: got '{}', need {}; correct it, or leave it empty",
                                         column, row + 1, cell, need));
}

double number_of(const std::string& column, std::size_t row, const std::string& cell) {
  const auto number = parse_number(cell);
  if (!number || !std::isfinite(*number)) refuse(column, row, cell, "a finite number");
  return *number;
}

double time_of(const std::string& column, std::size_t row, const std::string& cell) {
  const double time = number_of(column, row, cell);
  if (time < 0) refuse(column, row, cell, "a time of 0 or more");
  return time;
}

double flag_of(const std::string& column, std::size_t row, const std::string& cell) {
  const std::string word = lower_case(trimmed(cell));
  if (word == "true" || word == "yes") return 1;
  if (word == "false" || word == "no") return 0;
  const auto number = parse_number(cell);
  if (!number || (*number != 0 && *number != 1)) refuse(column, row, cell, "1, 0, yes, no, true or false");
  return *number;
}

using CellReader = double (*)(const std::string&, std::size_t, const std::string&);

CellReader reader_of(TargetKind kind, std::size_t column) {
  if (kind == TargetKind::regression) return number_of;
  return kind == TargetKind::survival && column == 0 ? time_of : flag_of;
}

void check_columns(TargetKind kind, const std::vector<std::string>& columns) {
  const std::size_t wanted = kind == TargetKind::survival ? 2 : 1;
  const bool several = kind == TargetKind::regression || kind == TargetKind::multilabel;
  if (several ? !columns.empty() : columns.size() == wanted) return;
  throw InputError("labels", fmt::format("columns of a {} target: got {}, need {}", name_of(kind),
                                         columns.empty() ? "none" : join(columns, ", "),
                                         kind == TargetKind::survival ? "a time and an event, such as time,event"
                                         : several                    ? "at least one"
                                                                      : "one"));
}

}  // namespace

std::string_view name_of(TargetKind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "";
}

TargetKind parse_target_kind(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [name, value] : kKinds) {
    if (name == text) return value;
    names.emplace_back(name);
  }
  throw InputError("labels", unknown_name("kind of target", text, names));
}

std::string Target::name() const { return join(columns, ","); }

Index Target::size() const { return kind == TargetKind::classification ? labels.size() : values.rows(); }

bool Target::known(Index sample) const {
  if (kind == TargetKind::classification) return labels.codes[static_cast<std::size_t>(sample)] >= 0;
  const auto row = values.row(sample).array();
  return kind == TargetKind::survival ? !row.isNaN().any() : !row.isNaN().all();
}

Index Target::known() const {
  Index count = 0;
  for (Index i = 0; i < size(); ++i) count += known(i) ? 1 : 0;
  return count;
}

Target Target::select(std::span<const Index> chosen) const {
  Target some{kind, columns, {}, {}};
  if (kind == TargetKind::classification) {
    some.labels = labels.select(chosen);
    return some;
  }
  some.values.resize(static_cast<Index>(chosen.size()), values.cols());
  for (std::size_t i = 0; i < chosen.size(); ++i) some.values.row(static_cast<Index>(i)) = values.row(chosen[i]);
  return some;
}

Target make_target(TargetKind kind, std::vector<std::string> columns, std::span<const std::vector<std::string>> text) {
  check_columns(kind, columns);
  Target target{kind, std::move(columns), {}, {}};
  if (kind == TargetKind::classification) {
    target.labels = make_labels(text[0]);
    return target;
  }
  target.values.resize(static_cast<Index>(text[0].size()), static_cast<Index>(text.size()));
  for (std::size_t c = 0; c < text.size(); ++c) {
    const CellReader read = reader_of(kind, c);
    for (std::size_t i = 0; i < text[c].size(); ++i) {
      const std::string& cell = text[c][i];
      target.values(static_cast<Index>(i), static_cast<Index>(c)) =
          is_missing(cell) ? kNan : read(target.columns[c], i, cell);
    }
  }
  return target;
}

}  // namespace tocca
