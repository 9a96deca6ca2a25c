/// What is to be predicted of a sample beyond one class: numbers, survival times, yes-or-no properties, further
/// classes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/data/labels.h"

namespace tocca {

enum class TargetKind {
  classification,  ///< one of C classes
  regression,      ///< t numbers
  survival,        ///< a time, and whether the event was seen then (1) or the sample was last seen without it (0)
  multilabel       ///< t properties that hold (1) or not (0), independently
};
/// "classification", "regression", ...
std::string_view name_of(TargetKind kind);
/// Throws InputError offering near names.
TargetKind parse_target_kind(std::string_view name);

/// One thing to predict, of n samples.
struct Target {
  TargetKind kind = TargetKind::regression;
  std::vector<std::string> columns;  ///< (t) names; survival: of the time and of the event
  Labels labels;                     ///< classification: the class of each sample
  /// The other kinds: (n × t), NaN where missing. Survival (n × 2): time, event.
  Matrix<double> values;

  /// "age", "time,event": what it is called in messages and results.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Index size() const;
  /// How many samples have at least one value (survival: both).
  [[nodiscard]] Index known() const;
  [[nodiscard]] bool known(Index sample) const;
  [[nodiscard]] Target select(std::span<const Index> chosen) const;
};

/// A target from text, one list of n cells for each column. A cell that is empty, `NA` or `nan` is missing; for
/// classification also `-1`. Yes and no are 1 and 0, true and false, or yes and no, in any case. Throws InputError with
/// column and row: a number that does not read as one or is infinite, a time below 0, a property or event that is
/// neither yes nor no, another number of columns than the kind has (survival: 2, classification: 1).
Target make_target(TargetKind kind, std::vector<std::string> columns, std::span<const std::vector<std::string>> text);

}  // namespace tocca
