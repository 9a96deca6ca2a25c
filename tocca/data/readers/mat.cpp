#include "tocca/data/readers/mat.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/data/readers/array_file.h"
#include "tocca/data/readers/mat_file.h"
#include "tocca/data/readers/mat_path.h"
#include "tocca/data/readers/mat_text.h"
#include "tocca/data/text.h"

namespace tocca::detail {
namespace {

std::optional<NumberType> number_type(const matvar_t& variable) {
  static constexpr std::pair<matio_classes, NumberType> kTypes[] = {
      {MAT_C_DOUBLE, NumberType::f8}, {MAT_C_SINGLE, NumberType::f4}, {MAT_C_INT8, NumberType::i1},
      {MAT_C_UINT8, NumberType::u1},  {MAT_C_INT16, NumberType::i2},  {MAT_C_UINT16, NumberType::u2},
      {MAT_C_INT32, NumberType::i4},  {MAT_C_UINT32, NumberType::u4}, {MAT_C_INT64, NumberType::i8},
      {MAT_C_UINT64, NumberType::u8}, {MAT_C_SPARSE, NumberType::f8}};
  for (const auto& [type, number] : kTypes) {
    if (type == variable.class_type) return number;
  }
  return std::nullopt;
}

bool is_char(const matvar_t* variable) { return variable != nullptr && variable->class_type == MAT_C_CHAR; }

/// Whether a variable comes into question where a path names none.
bool may_be_view(const matvar_t& variable) { return number_type(variable) || variable.class_type == MAT_C_CELL; }

bool may_be_labels(const matvar_t& variable) {
  const std::span<const std::size_t> dims = mat_dims(variable);
  const std::span<matvar_t* const> cells = mat_cells(variable);
  if (dims.size() != 2) return false;
  const bool vector = dims[0] == 1 || dims[1] == 1;
  return is_char(&variable) || (vector && number_type(variable)) || (!cells.empty() && is_char(cells[0]));
}

std::string describe(const std::vector<MatVariable>& variables) {
  std::vector<std::string> texts;
  for (const MatVariable& variable : variables) {
    texts.push_back(fmt::format("{} ({} {})", variable->name, mat_size(*variable), mat_class(*variable)));
  }
  return texts.empty() ? "none" : name_some(texts, 20);
}

/// The name of the only variable that may be meant.
std::string only_variable(const MatFile& file, const std::string& path, bool (*fits)(const matvar_t&)) {
  const std::vector<MatVariable> variables = file.list();
  std::vector<std::string> fitting;
  for (const MatVariable& variable : variables) {
    if (fits(*variable)) fitting.emplace_back(variable->name);
  }
  if (fitting.size() == 1) return fitting[0];
  if (fitting.empty()) {
    throw InputError(path, fmt::format("nothing to read: got {}, need a matrix of numbers or, as labels, a vector or "
                                       "texts; check how it was saved",
                                       describe(variables)));
  }
  throw InputError(path,
                   fmt::format("variable not chosen: got {}, need one; write its name after the file's, as in {}:{}",
                               describe(variables), path, fitting[0]));
}

/// The variable that a path names, or the cell of it, without its values.
matvar_t& find_array(const MatPath& wanted, matvar_t& variable) {
  if (wanted.cell == 0) return variable;
  const std::span<matvar_t* const> cells = mat_cells(variable);
  if (variable.class_type != MAT_C_CELL) {
    throw InputError(wanted.text(), fmt::format("not a cell array: got {} {}, need cells; write {}:{}",
                                                mat_size(variable), mat_class(variable), wanted.file, variable.name));
  }
  if (static_cast<std::size_t>(wanted.cell) > cells.size()) {
    throw InputError(wanted.text(),
                     fmt::format("no such cell: got {}, need 1 to {}; check the number", wanted.cell, cells.size()));
  }
  matvar_t* cell = cells[static_cast<std::size_t>(wanted.cell - 1)];
  if (cell == nullptr || cell->class_type == MAT_C_EMPTY) {
    throw InputError(wanted.text(), "cell is empty: got no values, need samples x columns; check the file");
  }
  return *cell;
}

std::string remedy(const MatPath& wanted, const matvar_t& array) {
  switch (array.class_type) {
    case MAT_C_CELL:
      return fmt::format("write {0}:{1}{{1}} to {0}:{1}{{{2}}}", wanted.file, wanted.variable, mat_cells(array).size());
    case MAT_C_STRUCT:
      return "save its fields as variables with save(..., '-struct', ...)";
    case MAT_C_OPAQUE:
      return "convert it with double, table2array or, for labels, cellstr";
    default:
      return "convert it with double";
  }
}

/// Throws unless it is a real matrix.
NumberType check_matrix(const MatPath& wanted, const matvar_t& array) {
  const std::optional<NumberType> type = number_type(array);
  if (!type) {
    throw InputError(wanted.text(), fmt::format("not a matrix of numbers: got {} {}, need one; {}", mat_size(array),
                                                mat_class(array), remedy(wanted, array)));
  }
  if (array.isComplex != 0) {
    throw InputError(wanted.text(),
                     "numbers are complex: got complex values, need real ones; save real, imag or abs of "
                     "them");
  }
  if (array.rank != 2) {
    throw InputError(wanted.text(),
                     fmt::format("array has too many dimensions: got {}, need samples x columns; reshape "
                                 "it",
                                 mat_size(array)));
  }
  return *type;
}

/// MATLAB's matrices lie column by column; nothing is moved.
Table column_major(std::shared_ptr<const void> owner, NumberType type, const ArrayShape& shape, bool transposed) {
  const void* first = owner.get();
  if (transposed) return {std::move(owner), first, type, shape.columns, shape.rows, shape.rows, 1};
  return {std::move(owner), first, type, shape.rows, shape.columns, 1, shape.rows};
}

[[noreturn]] void refuse_damaged(const MatPath& wanted) {
  throw InputError(wanted.text(),
                   "values are damaged: got positions or sizes that do not fit, need an intact file; "
                   "fetch or write it again");
}

NumberType sparse_type(const MatPath& wanted, const matvar_t& array) {
  if (array.data_type == MAT_T_DOUBLE) return NumberType::f8;
  if (array.data_type != MAT_T_UINT8 && array.data_type != MAT_T_INT8) refuse_damaged(wanted);
  return NumberType::u1;  // logical
}

std::shared_ptr<const void> dense(const MatPath& wanted, const matvar_t& array, const ArrayShape& shape) {
  const auto& sparse = *static_cast<const mat_sparse_t*>(array.data);
  const Index count = std::min(sparse.ndata, sparse.nir);
  // Not owned: only looked at here.
  const Table values({}, sparse.data, sparse_type(wanted, array), 1, count, count, 1);
  auto full = std::make_shared<std::vector<double>>(static_cast<std::size_t>(shape.rows * shape.columns));
  if (static_cast<Index>(sparse.njc) != shape.columns + 1) refuse_damaged(wanted);
  for (Index j = 0; j < shape.columns; ++j) {
    if (sparse.jc[j + 1] > count) refuse_damaged(wanted);
    for (Index k = sparse.jc[j]; k < sparse.jc[j + 1]; ++k) {
      const Index row = sparse.ir[k];
      if (row >= shape.rows) refuse_damaged(wanted);
      (*full)[static_cast<std::size_t>(j * shape.rows + row)] = values.at(0, k);
    }
  }
  const double* first = full->data();
  return {std::move(full), first};
}

Table read_matrix(const MatFile& file, const MatPath& wanted, matvar_t& array) {
  const NumberType type = check_matrix(wanted, array);
  const ArrayShape shape = flatten_shape(wanted.text(), mat_dims(array), type);
  file.read(array);
  if (array.class_type == MAT_C_SPARSE) {
    return column_major(dense(wanted, array, shape), type, shape, wanted.transposed);
  }
  if (array.nbytes != shape.bytes) refuse_damaged(wanted);
  // MATIO's values come from malloc; taken out of the variable, they need neither MATIO nor its lock any more.
  return column_major({std::exchange(array.data, nullptr), std::free}, type, shape, wanted.transposed);
}

std::vector<std::string> read_numbers(const MatFile& file, MatPath wanted, matvar_t& array) {
  check_matrix(wanted, array);
  const std::span<const std::size_t> dims = mat_dims(array);
  if (dims[0] != 1 && dims[1] != 1) {
    throw InputError(wanted.text(), fmt::format("labels are no vector: got {}, need n x 1 or 1 x n; save one column of "
                                                "it",
                                                mat_size(array)));
  }
  wanted.transposed = dims[0] == 1;
  return column_texts(read_matrix(file, wanted, array), 0);
}

std::vector<std::string> read_cells(const MatFile& file, const MatPath& wanted, matvar_t& array) {
  file.read(array);
  std::vector<std::string> texts;
  for (const matvar_t* cell : mat_cells(array)) {
    const std::vector<std::string> rows =
        is_char(cell) && cell->data != nullptr ? mat_texts(*cell) : std::vector<std::string>();
    const bool empty = cell == nullptr || cell->nbytes == 0;
    if (rows.size() != 1 && !empty) {
      throw InputError(wanted.text(),
                       fmt::format("label is no text: got {} {} in cell {}, need a text in each; convert "
                                   "them with cellfun",
                                   mat_size(*cell), mat_class(*cell), texts.size() + 1));
    }
    texts.push_back(empty ? std::string() : rows[0]);
  }
  return texts;
}

std::vector<std::string> read_texts(const MatFile& file, const MatPath& wanted, matvar_t& array) {
  if (array.class_type == MAT_C_CELL && may_be_labels(array)) return read_cells(file, wanted, array);
  if (!is_char(&array)) return read_numbers(file, wanted, array);
  flatten_shape(wanted.text(), mat_dims(array), NumberType::u1);
  file.read(array);
  return mat_texts(array);
}

/// The cells of a cell array of matrices.
void add_cells(std::vector<TablePart>& parts, const MatVariable& variable) {
  const std::span<matvar_t* const> cells = mat_cells(*variable);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == nullptr || !number_type(*cells[i])) continue;
    const MatPath cell{"", variable->name, static_cast<Index>(i + 1), false};
    parts.push_back({cell.array(), mat_class(*cells[i]), mat_size(*cells[i])});
  }
}

}  // namespace

TableFile read_mat(const std::string& path, const ReadOptions&) {
  MatPath wanted = parse_mat_path(path);
  const MatFile file(wanted.file);
  if (wanted.variable.empty()) wanted.variable = only_variable(file, wanted.file, may_be_view);
  const MatVariable variable = file.find(wanted.variable);
  return unnamed_table(wanted.text(), read_matrix(file, wanted, find_array(wanted, *variable)));
}

LabelColumn read_mat_labels(const std::string& path, const std::string& column, const ReadOptions&) {
  MatPath wanted = parse_mat_path(path);
  if (!column.empty() && !wanted.variable.empty()) {
    throw InputError(path, fmt::format("labels named twice: got column '{}' of {}, need a vector; save the column as a "
                                       "variable",
                                       column, wanted.array()));
  }
  if (!column.empty()) wanted = parse_mat_array(wanted.file, column);
  const MatFile file(wanted.file);
  if (wanted.variable.empty()) wanted.variable = only_variable(file, wanted.file, may_be_labels);
  const MatVariable variable = file.find(wanted.variable);
  return {wanted.file, wanted.array(), read_texts(file, wanted, find_array(wanted, *variable)), {}};
}

std::vector<std::string> mat_label_columns(const std::string& path, const ReadOptions&) {
  const MatPath wanted = parse_mat_path(path);
  if (!wanted.variable.empty()) return {wanted.array()};
  const MatFile file(wanted.file);
  std::vector<std::string> names;
  for (const MatVariable& variable : file.list()) {
    if (may_be_labels(*variable)) names.emplace_back(variable->name);
  }
  return names;
}

std::vector<TablePart> mat_parts(const std::string& path) {
  const MatPath wanted = parse_mat_path(path);
  if (!wanted.variable.empty()) return {};
  const MatFile file(wanted.file);
  std::vector<TablePart> parts;
  for (const MatVariable& variable : file.list()) {
    parts.push_back({variable->name, mat_class(*variable), mat_size(*variable)});
    add_cells(parts, variable);
  }
  return parts.size() > 1 ? parts : std::vector<TablePart>();
}

}  // namespace tocca::detail
