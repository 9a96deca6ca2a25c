// Puts views and labels of the same samples together; declared in readers.h.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers.h"
#include "tocca/data/text.h"

namespace tocca {
namespace {

using Names = std::vector<std::string>;
using RowOfId = std::unordered_map<std::string_view, Index>;

RowOfId index_ids(const std::string& path, const Names& ids) {
  RowOfId rows;
  Names twice;
  for (const std::string& id : ids) {
    if (!rows.emplace(id, static_cast<Index>(rows.size() + twice.size())).second) twice.push_back(id);
  }
  if (twice.empty()) return rows;
  throw InputError(path,
                   fmt::format("sample ids occur twice: got {} repeated ({}), need distinct ids; remove or rename "
                               "the repeated rows",
                               twice.size(), name_some(twice)));
}

void check_names(const std::vector<NamedTable>& tables) {
  if (tables.empty()) throw InputError("views", "no views: got 0, need at least 1; name one with --view NAME=FILE");
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (tables[i].name != tables[j].name) continue;
      throw InputError("views",
                       fmt::format("view name occurs twice: got '{}' for {} and {}, need distinct names; rename "
                                   "one of them",
                                   tables[i].name, tables[j].file.path, tables[i].file.path));
    }
  }
}

[[noreturn]] void refuse_mixture(const Names& with, const Names& without) {
  throw InputError("join",
                   fmt::format("some files have sample ids and others don't: got ids in {} and none in {}, need "
                               "ids in all or in none; add a first column 'sample', or name it with --id",
                               name_some(with), name_some(without)));
}

/// Whether the files are joined by id.
bool all_have_ids(const std::vector<NamedTable>& tables) {
  Names with;
  Names without;
  for (const NamedTable& table : tables) (table.file.ids.empty() ? without : with).push_back(table.file.path);
  if (!with.empty() && !without.empty()) refuse_mixture(with, without);
  return without.empty();
}

Names number_samples(const std::vector<NamedTable>& tables) {
  const Index samples = tables.front().file.values.rows();
  for (const NamedTable& table : tables) {
    if (table.file.values.rows() == samples) continue;
    throw InputError("join", fmt::format("views have different numbers of samples: got {} in '{}' and {} in '{}', need "
                                         "equal numbers where files have no ids; add a first column 'sample' to each",
                                         samples, tables.front().name, table.file.values.rows(), table.name));
  }
  Names names;
  for (Index i = 0; i < samples; ++i) names.push_back(std::to_string(i));
  return names;
}

/// All ids in the order in which they first occur. Every view must share at least one with some other view.
Names unite_samples(const std::vector<NamedTable>& tables) {
  Names samples;
  std::unordered_map<std::string_view, int> views_with;
  for (const NamedTable& table : tables) {
    for (const std::string& id : table.file.ids) {
      if (++views_with[id] == 1) samples.push_back(id);
    }
  }
  for (const NamedTable& table : tables) {
    const auto shared = [&](const std::string& id) { return views_with[id] > 1; };
    const Names& ids = table.file.ids;
    if (tables.size() == 1 || std::any_of(ids.begin(), ids.end(), shared)) continue;
    throw InputError("join", fmt::format("view '{}' has no sample in common with the others: got ids such as {} in {}, "
                                         "need ids as in the other files; check how samples are named",
                                         table.name, name_some(ids, 3), table.file.path));
  }
  return samples;
}

std::vector<Index> rows_by_id(const Names& samples, const RowOfId& rows) {
  std::vector<Index> row_of_sample;
  row_of_sample.reserve(samples.size());
  for (const std::string& sample : samples) {
    const auto found = rows.find(sample);
    row_of_sample.push_back(found == rows.end() ? -1 : found->second);
  }
  return row_of_sample;
}

std::vector<Index> rows_by_number(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = i;
  return rows;
}

/// Marks rows without any value as missing; the samples concerned.
Names drop_empty_rows(const Names& samples, View& view) {
  constexpr std::size_t kRowsHeld = 1U << 16;  // of a large file, before its pages are given back
  Names dropped;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Index& row = view.row_of_sample[i];
    if (row >= 0 && all_missing(view.values, row)) {
      row = -1;
      dropped.push_back(samples[i]);
    }
    if ((i + 1) % kRowsHeld == 0) view.values.release(0, view.values.rows());
  }
  view.values.release(0, view.values.rows());
  return dropped;
}

Names lacking(const Names& samples, const std::vector<Index>& rows) {
  Names without;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (rows[i] < 0) without.push_back(samples[i]);
  }
  return without;
}

void tell(JoinReport* report, const Names& samples, std::string_view what) {
  if (report == nullptr || samples.empty()) return;
  report->messages.push_back(fmt::format("{}: {} ({})", what, samples.size(), name_some(samples)));
}

View make_view(NamedTable table, const Names& samples, std::vector<Index> rows, JoinReport* report) {
  TableFile& file = table.file;
  View view{std::move(table.name), std::move(file.features), std::move(file.values), std::move(rows)};
  tell(report, lacking(samples, view.row_of_sample),
       fmt::format("view '{}' ({}): samples of other views that it lacks", view.name, file.path));
  tell(report, drop_empty_rows(samples, view),
       fmt::format("view '{}' ({}): samples without any value, taken as missing", view.name, file.path));
  return view;
}

std::vector<std::string> labels_by_id(const Views& views, const LabelColumn& labels, JoinReport* report) {
  const RowOfId rows = index_ids(labels.path, labels.ids);
  const std::vector<Index> row_of_sample = rows_by_id(views.samples, rows);
  std::vector<std::string> text(views.samples.size());
  std::vector<bool> used(labels.ids.size(), false);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (row_of_sample[i] < 0) continue;
    const auto row = static_cast<std::size_t>(row_of_sample[i]);
    text[i] = labels.text[row];
    used[row] = true;
  }
  Names unknown;
  for (std::size_t row = 0; row < used.size(); ++row) {
    if (!used[row]) unknown.push_back(labels.ids[row]);
  }
  if (unknown.size() == labels.ids.size()) {
    throw InputError("join",
                     fmt::format("labels have no sample in common with the views: got ids such as {} in {}, need "
                                 "ids such as {}; check how samples are named",
                                 name_some(labels.ids, 3), labels.path, name_some(views.samples, 3)));
  }
  tell(report, lacking(views.samples, row_of_sample),
       fmt::format("labels ({}): samples that they lack, taken as unlabelled", labels.path));
  tell(report, unknown, fmt::format("labels ({}): ids that no view has, left out", labels.path));
  return text;
}

}  // namespace

Views join_views(std::vector<NamedTable> tables, JoinReport* report) {
  check_names(tables);
  const bool by_id = all_have_ids(tables);
  if (report != nullptr) report->by_id = by_id;
  std::vector<RowOfId> row_of_id;
  for (const NamedTable& table : tables) row_of_id.push_back(index_ids(table.file.path, table.file.ids));

  Views views;
  views.samples = by_id ? unite_samples(tables) : number_samples(tables);
  for (std::size_t v = 0; v < tables.size(); ++v) {
    std::vector<Index> rows = by_id ? rows_by_id(views.samples, row_of_id[v]) : rows_by_number(views.size());
    views.views.push_back(make_view(std::move(tables[v]), views.samples, std::move(rows), report));
  }
  return views;
}

std::vector<std::string> join_labels(const Views& views, const LabelColumn& labels, bool views_have_ids,
                                     JoinReport* report) {
  const bool labels_have_ids = !labels.ids.empty();
  if (labels_have_ids && views_have_ids) return labels_by_id(views, labels, report);
  if (labels_have_ids) refuse_mixture({labels.path}, {"the views"});
  if (views_have_ids) refuse_mixture({"the views"}, {labels.path});
  if (labels.text.size() != views.samples.size()) {
    throw InputError("join",
                     fmt::format("labels and views have different numbers of samples: got {} in {} and {} in the "
                                 "views, need equal numbers where files have no ids; add a first column "
                                 "'sample' to each",
                                 labels.text.size(), labels.path, views.samples.size()));
  }
  return labels.text;
}

}  // namespace tocca
