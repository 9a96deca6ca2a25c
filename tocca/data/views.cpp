#include "tocca/data/views.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca {

Index View::present() const {
  return std::count_if(row_of_sample.begin(), row_of_sample.end(), [](Index row) { return row >= 0; });
}

bool Views::complete(Index sample) const {
  return std::all_of(views.begin(), views.end(), [&](const View& view) { return view.has(sample); });
}

Views Views::select(std::span<const Index> chosen) const {
  Views some;
  some.samples.reserve(chosen.size());
  for (const Index sample : chosen) some.samples.push_back(samples[static_cast<std::size_t>(sample)]);
  for (const View& view : views) {
    std::vector<Index> rows;
    rows.reserve(chosen.size());
    for (const Index sample : chosen) rows.push_back(view.row_of_sample[static_cast<std::size_t>(sample)]);
    some.views.push_back({view.name, view.features, view.values, std::move(rows)});
  }
  return some;
}

const View& Views::named(std::string_view name) const {
  const auto found = std::find_if(views.begin(), views.end(), [&](const View& view) { return view.name == name; });
  if (found != views.end()) return *found;
  std::vector<std::string> names;
  for (const View& view : views) names.push_back(view.name);
  throw InputError("views", fmt::format("there is no such view: got '{}', need one of {}; check the name", name,
                                        name_some(names, 20)));
}

Dataset Dataset::select(std::span<const Index> chosen) const {
  return {views.select(chosen), labels.codes.empty() ? labels : labels.select(chosen)};
}

}  // namespace tocca
