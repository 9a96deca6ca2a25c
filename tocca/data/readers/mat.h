/// MATLAB files (.mat of format 5, also compressed, and of format 7.3), read with MATIO.
///
/// A path is `FILE.mat:VAR`, `FILE.mat:VAR{2}` for a cell of a cell array, and either with `'` at its end for the
/// transposed matrix: rows are samples, and which dimension that is cannot be told from a file. VAR may be left out
/// where only one variable can be meant. double, single, integers and logical are kept as they are; sparse matrices
/// become dense.
///
/// In format 7.3 MATIO takes a time that grows with the square of the number of cells: many texts (2,000 take a quarter
/// of a minute) are better saved as numbers, as a char matrix or with -v7.
#pragma once

#include <string>
#include <vector>

#include "tocca/data/readers.h"

namespace tocca::detail {

TableFile read_mat(const std::string& path, const ReadOptions& options);

/// `column` names an array as a path does. A vector of numbers (either way round), a cell array of texts or a char
/// matrix, a text in each row.
LabelColumn read_mat_labels(const std::string& path, const std::string& column, const ReadOptions& options);

/// The variables that may be labels.
std::vector<std::string> mat_label_columns(const std::string& path, const ReadOptions& options);

std::vector<TablePart> mat_parts(const std::string& path);

}  // namespace tocca::detail
