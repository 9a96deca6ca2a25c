/// The table of tasks: what labels can be for.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tocca/data/targets.h"
#include "tocca/train/step.h"

namespace tocca {

struct TaskRow {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  std::string_view metrics;
  Task loss;
  /// What the labels are read as; nothing: they are not needed.
  std::optional<TargetKind> labels;
};

std::span<const TaskRow> tasks();
/// Throws InputError offering near names.
const TaskRow& find_task(std::string_view name);

}  // namespace tocca
