// Matching the views and columns at hand with those a model was fitted on.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/model/fitted_model.h"

namespace tocca {
namespace {

// Files without a header get the column names c0, c1, ...; then only the number of columns can be compared.
bool unnamed(const std::vector<std::string>& features) {
  for (std::size_t j = 0; j < features.size(); ++j) {
    if (features[j] != fmt::format("c{}", j)) return false;
  }
  return true;
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  return join(shown, ", ") + (names.size() > kShown ? ", ..." : "");
}

// Where each feature of the model stands in the view.
std::vector<Index> columns_of(const FusedPart& schema, const View& view, const Context& context) {
  std::unordered_map<std::string, Index> place;
  for (std::size_t j = 0; j < view.features.size(); ++j) place[view.features[j]] = static_cast<Index>(j);
  std::vector<Index> columns;
  std::vector<std::string> missing;
  for (const std::string& feature : schema.features) {
    const auto found = place.find(feature);
    if (found == place.end()) {
      missing.push_back(feature);
    } else {
      columns.push_back(found->second);
    }
  }
  if (!missing.empty()) {
    throw InputError("match views", fmt::format("view '{}': {} of the model's {} columns missing: {}; add them",
                                                view.name, missing.size(), schema.features.size(), first_few(missing)));
  }
  if (view.features.size() > schema.features.size()) {
    context.warn(fmt::format("view '{}': {} columns unknown to the model are left out", view.name,
                             view.features.size() - schema.features.size()));
  }
  return columns;
}

// The same numbers with columns chosen and reordered; only rows that some sample uses.
View reordered(const View& view, const FusedPart& schema, const std::vector<Index>& columns) {
  View result{view.name, schema.features, Table(), {}};
  std::vector<Index> rows;
  for (const Index row : view.row_of_sample) {
    result.row_of_sample.push_back(row < 0 ? -1 : static_cast<Index>(rows.size()));
    if (row >= 0) rows.push_back(row);
  }
  Matrix<double> values(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  Matrix<double> all(1, view.columns());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    view.values.read_rows(std::span(&rows[i], 1), all);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      values(static_cast<Index>(i), static_cast<Index>(j)) = all(0, columns[j]);
    }
  }
  result.values = Table(std::move(values));
  return result;
}

View match_view(const FusedPart& schema, const View& view, const Context& context) {
  if (unnamed(view.features) || unnamed(schema.features)) {
    if (view.features.size() != schema.features.size()) {
      throw InputError("match views", fmt::format("view '{}': got {} columns, need {} as in training", view.name,
                                                  view.features.size(), schema.features.size()));
    }
    View same = view;
    same.features = schema.features;
    return same;
  }
  if (view.features == schema.features) return view;
  return reordered(view, schema, columns_of(schema, view, context));
}

// A model fitted with --missing drop never saw a row with a gap: such a row counts as no row here, too.
void drop_incomplete_rows(const ViewSchema& schema, View& view, const Context& context) {
  if (schema.standardizer.missing != MissingValues::drop) return;
  Index dropped = 0;
  for (Index& row : view.row_of_sample) {
    if (row < 0 || !has_missing(view.values, row)) continue;
    row = -1;
    ++dropped;
  }
  if (dropped == 0) return;
  context.warn(
      fmt::format("view '{}': {} samples have missing values and count as without this view", view.name, dropped));
}

// A view nobody has.
View absent(const FusedPart& schema, Index samples) {
  return {schema.name, schema.features, Table(Matrix<double>(0, static_cast<Index>(schema.features.size()))),
          std::vector<Index>(static_cast<std::size_t>(samples), -1)};
}

// The views that the model asks for, by name, with their columns as it wants them.
Views match_parts(const std::vector<FusedPart>& wanted, const Views& data, const Context& context) {
  std::vector<std::string> known;
  for (const FusedPart& part : wanted) known.push_back(part.name);
  for (const View& view : data.views) {
    if (std::find(known.begin(), known.end(), view.name) == known.end()) {
      throw InputError("match views", unknown_name("view", view.name, known));
    }
  }
  Views matched{data.samples, {}};
  for (const FusedPart& part : wanted) {
    const auto found =
        std::find_if(data.views.begin(), data.views.end(), [&](const View& view) { return view.name == part.name; });
    matched.views.push_back(found == data.views.end() ? absent(part, data.size()) : match_view(part, *found, context));
  }
  return matched;
}

}  // namespace

Views match_views(const FittedModel& model, const Views& data, const Context& context) {
  Views matched;
  if (model.fused.empty()) {
    std::vector<FusedPart> wanted;
    for (const ViewSchema& schema : model.views) wanted.push_back({schema.name, schema.features});
    matched = match_parts(wanted, data, context);
  } else {
    matched.samples = data.samples;
    matched.views = {concatenate(match_parts(model.fused, data, context), model.views[0].name)};
  }
  for (std::size_t v = 0; v < model.views.size(); ++v) drop_incomplete_rows(model.views[v], matched.views[v], context);
  return matched;
}

}  // namespace tocca
