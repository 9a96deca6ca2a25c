/// Several views of the same samples.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/data/labels.h"
#include "tocca/data/table.h"
#include "tocca/data/targets.h"

namespace tocca {

/// One set of measurements. The table keeps the order of its file; `row_of_sample` says which row belongs to which
/// sample, so that joining, splitting and subsampling never copy numbers.
struct View {
  std::string name;
  std::vector<std::string> features;  ///< (d) column names, distinct
  Table values;                       ///< (rows × d), NaN where a single value is missing
  std::vector<Index> row_of_sample;   ///< (n) row in `values`; −1 where the sample lacks this view

  [[nodiscard]] Index columns() const { return values.columns(); }
  [[nodiscard]] bool has(Index sample) const { return row_of_sample[static_cast<std::size_t>(sample)] >= 0; }
  /// How many samples have this view.
  [[nodiscard]] Index present() const;
};

struct Views;
/// One view named `name` with the columns of all views side by side, called "view:column", of the samples that have
/// every view (others lack it). Numbers are copied, as double.
View concatenate(const Views& views, std::string name);

struct Views {
  std::vector<std::string> samples;  ///< (n) sample ids; "0", "1", ... where the files have none
  std::vector<View> views;           ///< V ≥ 1, distinct names

  [[nodiscard]] Index size() const { return static_cast<Index>(samples.size()); }
  [[nodiscard]] Index count() const { return static_cast<Index>(views.size()); }
  /// The sample has every view.
  [[nodiscard]] bool complete(Index sample) const;
  /// The samples that have every view, and those that have at least one, ascending.
  [[nodiscard]] std::vector<Index> with_every_view() const;
  [[nodiscard]] std::vector<Index> with_any_view() const;
  /// The same views for a subset of the samples, in the order given. Shares the tables.
  [[nodiscard]] Views select(std::span<const Index> chosen) const;
  /// Only the named view. Throws InputError, naming the views there are, if there is none of that name.
  [[nodiscard]] const View& named(std::string_view name) const;
};

/// What a method learns from: views and, where it has them, what is known of their samples.
struct Dataset {
  Views views;
  Labels labels;                     ///< classes that splits are stratified by; codes may be empty: none
  std::vector<Target> targets = {};  ///< what else is to be predicted, each of all samples
  /// (n) samples of equal number (of one patient, one speaker) resemble each other: wherever some are held out, in
  /// early stopping, cross-validation or a search, they are on one side. Empty: each for itself.
  std::vector<Index> groups = {};

  /// Something is known of that sample: its class, or a value of a target.
  [[nodiscard]] bool labelled(Index sample) const;

  [[nodiscard]] Dataset select(std::span<const Index> chosen) const;
};

/// Of some samples: their numbers in `groups`, or without groups the samples themselves.
std::vector<Index> groups_of(const Dataset& data, std::span<const Index> samples);

}  // namespace tocca
