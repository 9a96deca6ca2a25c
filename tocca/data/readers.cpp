#include "tocca/data/readers.h"

#include <fmt/format.h>

#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers/array_file.h"
#include "tocca/data/readers/delimited.h"
#include "tocca/data/readers/file.h"
#include "tocca/data/readers/idx.h"
#include "tocca/data/readers/label_column.h"
#include "tocca/data/readers/mat.h"
#include "tocca/data/readers/mat_path.h"
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

/// The reader of a path whose file is there.
const ReaderFormat& format_of(const std::string& path) {
  const std::string file = file_of(path);
  detail::check_file(file);
  const std::string name = lower_case(file);
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
  return {table.path, table.features[chosen], detail::column_texts(table.values, static_cast<Index>(chosen)),
          std::move(table.ids)};
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
       detail::read_idx},
      {"mat",
       {".mat"},
       "MATLAB file (v5, v7.3): FILE.mat:VAR, FILE.mat:VAR{1} for a cell, with ' at the end transposed",
       detail::read_mat,
       detail::read_mat_labels,
       detail::mat_label_columns,
       detail::mat_parts}};
  return kFormats;
}

std::string file_of(const std::string& path) { return detail::mat_file_of(path); }

TableFile read_table(const std::string& path, const ReadOptions& options) {
  return format_of(path).read(path, options);
}

LabelColumn read_labels(const std::string& path, const std::string& column, const ReadOptions& options) {
  const ReaderFormat& format = format_of(path);
  if (format.read_labels != nullptr) return format.read_labels(path, column, options);
  return labels_of(format.read(path, options), column);
}

std::vector<std::string> label_columns(const std::string& path, const ReadOptions& options) {
  const ReaderFormat& format = format_of(path);
  return format.columns != nullptr ? format.columns(path, options) : format.read(path, options).features;
}

std::vector<TablePart> table_parts(const std::string& path) {
  const ReaderFormat& format = format_of(path);
  return format.parts != nullptr ? format.parts(path) : std::vector<TablePart>();
}

}  // namespace tocca
