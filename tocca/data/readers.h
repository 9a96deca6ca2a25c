/// Reading tables of numbers from files. Which reader is used is decided by the file's ending through one table
/// (`reader_formats()`); a new format is one file pair in data/readers/ and one line of that table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tocca/data/table.h"
#include "tocca/data/views.h"

namespace tocca {

struct ReadOptions {
  /// Name of the column that holds sample ids. Empty: the first column, if it is named `sample`, `id` (in any case) or
  /// nothing. Files without column names (.npy, .idx, .mat) have no ids.
  std::string id_column;
};

/// A file as read: numbers, names, and ids where it has them.
struct TableFile {
  std::string path;
  Table values;                       ///< (n × d)
  std::vector<std::string> features;  ///< (d) from the header, else "c0", "c1", ...
  std::vector<std::string> ids;       ///< (n) or empty: the file has none
};

/// A column of labels as text, in the file's order.
struct LabelColumn {
  std::string path;
  std::string column;
  std::vector<std::string> text;  ///< (n)
  std::vector<std::string> ids;   ///< (n) or empty
};

/// One of several arrays in a file.
struct TablePart {
  std::string name;  ///< "X{2}": what a path names it by, as data.mat:X{2}
  std::string type;  ///< "double", "cell", ...
  std::string size;  ///< "210 x 1302"
};

struct ReaderFormat {
  std::string_view name;                  ///< "csv"
  std::vector<std::string_view> endings;  ///< ".csv", ".csv.gz", ...
  std::string_view description;           ///< one line for `tocca methods`
  TableFile (*read)(const std::string& path, const ReadOptions& options);
  /// Null: labels are the numbers of a column that `read` returns.
  LabelColumn (*read_labels)(const std::string& path, const std::string& column, const ReadOptions& options) = nullptr;
  /// Names of the columns besides the ids. Null: those of what `read` returns.
  std::vector<std::string> (*columns)(const std::string& path, const ReadOptions& options) = nullptr;
  /// What `table_parts` returns. Null: a file holds one table.
  std::vector<TablePart> (*parts)(const std::string& path) = nullptr;
};

/// CSV, TSV (RFC 4180; also .gz), NPY (memory-mapped), IDX (also .gz), MAT (MATLAB v5 and v7.3).
std::span<const ReaderFormat> reader_formats();

/// The file that a path names: data.mat of data.mat:X. Other paths are files themselves.
std::string file_of(const std::string& path);

/// Reads a table by its file's ending. Throws InputError that names the file and, where it can, line and column:
/// missing, empty, header only, ragged, not a number, cut short, unknown ending (the known ones are listed).
TableFile read_table(const std::string& path, const ReadOptions& options = {});

/// Reads one column of a delimited file, a whole one-column .npy/.idx file, or a variable of a .mat file. `column` may
/// be empty when the file has a single column besides the ids. Throws InputError listing the columns there are.
LabelColumn read_labels(const std::string& path, const std::string& column, const ReadOptions& options = {});

/// The names of the columns besides the ids of a file that holds labels. Throws InputError as read_labels does.
std::vector<std::string> label_columns(const std::string& path, const ReadOptions& options = {});

/// What a file of several arrays holds, for people; empty where the path names one table. Throws InputError as
/// read_table does.
std::vector<TablePart> table_parts(const std::string& path);

/// What joining found out about the samples, for the user to read.
struct JoinReport {
  bool by_id = false;                 ///< false: files were matched row by row
  std::vector<std::string> messages;  ///< unmatched ids counted and named, per file
};

struct NamedTable {
  std::string name;
  TableFile file;
};

/// Puts views (and labels) of the same samples together: by id when every file has ids, row by row, with equal counts
/// required, when none has. A sample lacking a view is kept with that view missing; a sample lacking a label is
/// unlabelled; an id that only the label file knows is dropped and reported. A row in which every value is missing
/// counts as a missing view. Sample order: as in the first view, then what further views add, in their order.
/// Throws InputError: different counts without ids, some files with ids and some without, duplicate ids, views
/// without a common id, duplicate view names.
Views join_views(std::vector<NamedTable> tables, JoinReport* report = nullptr);
/// The label text of each sample of `views` (n), empty where there is none.
std::vector<std::string> join_labels(const Views& views, const LabelColumn& labels, bool views_have_ids,
                                     JoinReport* report = nullptr);

}  // namespace tocca
