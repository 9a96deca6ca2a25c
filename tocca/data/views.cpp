#include "tocca/data/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/text.h"

namespace tocca {

Index View::present() const {
  return std::count_if(row_of_sample.begin(), row_of_sample.end(), [](Index row) { return row >= 0; });
}

bool Views::complete(Index sample) const {
  return std::all_of(views.begin(), views.end(), [&](const View& view) { return view.has(sample); });
}

std::vector<Index> Views::with_every_view() const {
  std::vector<Index> found;
  for (Index i = 0; i < size(); ++i) {
    if (complete(i)) found.push_back(i);
  }
  return found;
}

std::vector<Index> Views::with_any_view() const {
  std::vector<Index> found;
  for (Index i = 0; i < size(); ++i) {
    if (std::any_of(views.begin(), views.end(), [&](const View& view) { return view.has(i); })) found.push_back(i);
  }
  return found;
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

View concatenate(const Views& views, std::string name) {
  View all{std::move(name), {}, {}, std::vector<Index>(static_cast<std::size_t>(views.size()), -1)};
  for (const View& view : views.views) {
    for (const std::string& feature : view.features) all.features.push_back(view.name + ":" + feature);
  }
  const std::vector<Index> complete = views.with_every_view();
  for (std::size_t row = 0; row < complete.size(); ++row) {
    all.row_of_sample[static_cast<std::size_t>(complete[row])] = static_cast<Index>(row);
  }
  Matrix<double> values(static_cast<Index>(complete.size()), static_cast<Index>(all.features.size()));
  Index next = 0;
  for (const View& view : views.views) {
    std::vector<Index> rows;
    rows.reserve(complete.size());
    for (const Index sample : complete) rows.push_back(view.row_of_sample[static_cast<std::size_t>(sample)]);
    Matrix<double> part(values.rows(), view.columns());
    view.values.read_rows(rows, part);
    values.middleCols(next, view.columns()) = part;
    next += view.columns();
  }
  all.values = Table(std::move(values));
  return all;
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
  Dataset some{views.select(chosen), labels.codes.empty() ? labels : labels.select(chosen)};
  for (const Target& target : targets) some.targets.push_back(target.select(chosen));
  if (!groups.empty()) some.groups = groups_of(*this, chosen);
  return some;
}

std::vector<Index> groups_of(const Dataset& data, std::span<const Index> samples) {
  std::vector<Index> groups(samples.begin(), samples.end());
  if (data.groups.empty()) return groups;
  for (Index& sample : groups) sample = data.groups[static_cast<std::size_t>(sample)];
  return groups;
}

bool Dataset::labelled(Index sample) const {
  if (!labels.codes.empty() && labels.codes[static_cast<std::size_t>(sample)] >= 0) return true;
  return std::any_of(targets.begin(), targets.end(), [&](const Target& target) { return target.known(sample); });
}

}  // namespace tocca
