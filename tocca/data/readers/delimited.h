/// Text tables: CSV and TSV, plain or packed with gzip.
///
/// Fields as in RFC 4180, UTF-8 with or without a byte order mark. The first line is a header if it has a field that is
/// neither a number nor missing, or if it reads `,0,1,2,...` (a frame written by pandas without column names). Without
/// a header the columns are named c0, c1, ..., and there are no ids. A column without a name gets one of these too.
/// Blank lines are skipped, except in a file of one column, where each is a missing value.
#pragma once

#include <string>

#include "tocca/data/readers.h"

namespace tocca::detail {

TableFile read_delimited(const std::string& path, char delimiter, const ReadOptions& options);
LabelColumn read_delimited_labels(const std::string& path, char delimiter, const std::string& column,
                                  const ReadOptions& options);
std::vector<std::string> read_delimited_columns(const std::string& path, char delimiter, const ReadOptions& options);

}  // namespace tocca::detail
