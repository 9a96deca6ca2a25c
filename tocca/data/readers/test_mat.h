/// .mat files for tests, written with MATIO.
#pragma once

#include <gtest/gtest.h>
#include <matio.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tocca/data/readers/mat_file.h"

namespace tocca::testing {

using detail::MatVariable;

struct MatFormat {
  mat_ft version;
  matio_compression compression;
};
constexpr MatFormat kMatFormats[] = {{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                                     {MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                                     {MAT_FT_MAT73, MAT_COMPRESSION_NONE},
                                     {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB}};

template <class T>
constexpr std::pair<matio_classes, matio_types> mat_type() {
  if constexpr (std::is_same_v<T, double>) return {MAT_C_DOUBLE, MAT_T_DOUBLE};
  if constexpr (std::is_same_v<T, float>) return {MAT_C_SINGLE, MAT_T_SINGLE};
  if constexpr (std::is_same_v<T, std::int8_t>) return {MAT_C_INT8, MAT_T_INT8};
  if constexpr (std::is_same_v<T, std::int16_t>) return {MAT_C_INT16, MAT_T_INT16};
  if constexpr (std::is_same_v<T, std::int32_t>) return {MAT_C_INT32, MAT_T_INT32};
  if constexpr (std::is_same_v<T, std::int64_t>) return {MAT_C_INT64, MAT_T_INT64};
  if constexpr (std::is_same_v<T, std::uint8_t>) return {MAT_C_UINT8, MAT_T_UINT8};
  if constexpr (std::is_same_v<T, std::uint16_t>) return {MAT_C_UINT16, MAT_T_UINT16};
  if constexpr (std::is_same_v<T, std::uint32_t>) return {MAT_C_UINT32, MAT_T_UINT32};
  if constexpr (std::is_same_v<T, std::uint64_t>) return {MAT_C_UINT64, MAT_T_UINT64};
}

/// An array of those values, down its columns.
template <class T>
MatVariable mat_numbers(const char* name, std::vector<std::size_t> dims, std::vector<T> values, int flags = 0) {
  const auto [type, data] = mat_type<T>();
  return MatVariable(Mat_VarCreate(name, type, data, static_cast<int>(dims.size()), dims.data(), values.data(), flags));
}

/// A char matrix: a row for each text of the same length.
inline MatVariable mat_chars(const char* name, const std::vector<std::u16string>& rows) {
  std::size_t dims[] = {rows.size(), rows.empty() ? 0 : rows[0].size()};
  std::u16string units;
  for (std::size_t j = 0; j < dims[1]; ++j) {
    for (const std::u16string& row : rows) units += row[j];
  }
  return MatVariable(Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UINT16, 2, dims, units.data(), 0));
}

/// A cell array of one row. Takes over the cells.
inline MatVariable mat_cell_row(const char* name, std::vector<MatVariable> cells) {
  std::size_t dims[] = {1, cells.size()};
  std::vector<matvar_t*> taken;
  for (MatVariable& cell : cells) taken.push_back(cell.release());
  return MatVariable(Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, dims, taken.data(), 0));
}

template <class... Cells>
MatVariable mat_cells_of(const char* name, Cells... cells) {
  std::vector<MatVariable> row;
  (row.push_back(std::move(cells)), ...);
  return mat_cell_row(name, std::move(row));
}

/// Writes a file of those variables and returns its path.
template <class... Variables>
std::string write_mat(const std::string& path, MatFormat format, const Variables&... variables) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, format.version);
  EXPECT_NE(file, nullptr);
  for (matvar_t* variable : {variables.get()...}) EXPECT_EQ(Mat_VarWrite(file, variable, format.compression), 0);
  Mat_Close(file);
  return path;
}

}  // namespace tocca::testing
