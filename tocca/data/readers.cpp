#include "tocca/data/readers.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers/delimited.h"
#include "tocca/data/readers/file.h"
#include "tocca/data/readers/idx.h"
#include "tocca/data/readers/label_column.h"
#include "tocca/data/readers/npy.h"
#include "tocca/data/text.h"

namespace tocca {
namespace {

template <char kDelimiter>
TableFile read_text(const std::string& path, const ReadOptions& options) {
  return detail::read_delimited(path, kDelimiter, options);
}

template <char kDelimiter>
LabelColumn read_text_labels(const std::string& path, const std::string& column, const ReadOptions& options) {
  return detail::read_delimited_labels(path, kDelimiter, column, options);
}

template <char kDelimiter>
std::vector<std::string> read_text_columns(const std::string& path, const ReadOptions& options) {
  return detail::read_delimited_columns(path, kDelimiter, options);
}

const ReaderFormat& format_of(const std::string& path) {
  const std::string name = lower_case(path);
  std::vector<std::string> known;
  for (const ReaderFormat& format : reader_formats()) {
    for (const std::string_view ending : format.endings) {
      if (name.ends_with(ending)) return format;
      known.emplace_back(ending);
    }
  }
  throw InputError(path, fmt::format("unknown file type: got '{}', need a name that ends in {}; convert or rename it",
                                     path, name_some(known, known.size())));
}

LabelColumn labels_of(TableFile table, const std::string& column) {
  const std::size_t chosen = detail::find_label_column(table.path, table.features, column);
  LabelColumn labels{table.path, table.features[chosen], {}, std::move(table.ids)};
  for (Index i = 0; i < table.values.rows(); ++i) {
    const double value = table.values.at(i, static_cast<Index>(chosen));
    labels.text.push_back(std::isnan(value) ? std::string() : number_text(value));
  }
  return labels;
}

}  // namespace

std::span<const ReaderFormat> reader_formats() {
  static const ReaderFormat kFormats[] = {
      {"csv",
       {".csv", ".csv.gz"},
       "text with commas (RFC 4180)",
       read_text<','>,
       read_text_labels<','>,
       read_text_columns<','>},
      {"tsv", {".tsv", ".tsv.gz"}, "text with tabs", read_text<'\t'>, read_text_labels<'\t'>, read_text_columns<'\t'>},
      {"npy", {".npy"}, "NumPy array, used in place", detail::read_npy},
      {"idx",
       {".idx", ".idx.gz", "-idx1-ubyte", "-idx1-ubyte.gz", ".idx1-ubyte", ".idx1-ubyte.gz", "-idx3-ubyte",
        "-idx3-ubyte.gz", ".idx3-ubyte", ".idx3-ubyte.gz"},
       "array in the format of MNIST",
       detail::read_idx}};
  return kFormats;
}

TableFile read_table(const std::string& path, const ReadOptions& options) {
  detail::check_file(path);
  return format_of(path).read(path, options);
}

LabelColumn read_labels(const std::string& path, const std::string& column, const ReadOptions& options) {
  detail::check_file(path);
  const ReaderFormat& format = format_of(path);
  if (format.read_labels != nullptr) return format.read_labels(path, column, options);
  return labels_of(format.read(path, options), column);
}

std::vector<std::string> label_columns(const std::string& path, const ReadOptions& options) {
  detail::check_file(path);
  const ReaderFormat& format = format_of(path);
  return format.columns != nullptr ? format.columns(path, options) : format.read(path, options).features;
}

}  // namespace tocca
