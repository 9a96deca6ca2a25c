#include "tocca/data/readers/mat_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/text.h"
#include "tocca/data/text.h"

namespace tocca::detail {
namespace {

std::mutex matio_mutex;

/// MATIO returns values even where the file is damaged, and says so only in its log: the last line of what it had to
/// complain about since this was emptied (of HDF5's many lines the one that tells the reason). Guarded by the mutex.
std::string complaint;

void keep_complaint(int level, char* message) {
  if (level > (MATIO_LOG_LEVEL_WARNING)) return;
  const std::string_view text = trimmed(message);
  complaint = trimmed(text.substr(text.rfind('\n') + 1));
}

std::string_view class_name(matio_classes type) {
  static constexpr std::pair<matio_classes, std::string_view> kNames[] = {
      {MAT_C_CELL, "cell"},         {MAT_C_STRUCT, "struct"}, {MAT_C_OBJECT, "object"},
      {MAT_C_CHAR, "char"},         {MAT_C_SPARSE, "sparse"}, {MAT_C_DOUBLE, "double"},
      {MAT_C_SINGLE, "single"},     {MAT_C_INT8, "int8"},     {MAT_C_UINT8, "uint8"},
      {MAT_C_INT16, "int16"},       {MAT_C_UINT16, "uint16"}, {MAT_C_INT32, "int32"},
      {MAT_C_UINT32, "uint32"},     {MAT_C_INT64, "int64"},   {MAT_C_UINT64, "uint64"},
      {MAT_C_FUNCTION, "function"}, {MAT_C_EMPTY, "empty"},   {MAT_C_OPAQUE, "string array, table or object"}};
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  return "unknown";
}

/// Whether a file of format 5 ends within a variable, which MATIO does not tell where the variable is not compressed.
bool is_cut_short(const std::string& path) {
  constexpr std::uintmax_t kHeader = 128;  // ends with "IM" where the numbers are little-endian
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kHeader, '\0');
  in.read(bytes.data(), kHeader);
  const bool swapped = bytes.ends_with("MI");
  const std::uintmax_t size = std::filesystem::file_size(path);
  std::uintmax_t position = kHeader;
  for (std::uint32_t tag[2]; position + sizeof tag <= size; position += sizeof tag + tag[1]) {  // {type, bytes}
    in.seekg(static_cast<std::streamoff>(position));
    in.read(reinterpret_cast<char*>(tag), sizeof tag);
    if (swapped) tag[1] = __builtin_bswap32(tag[1]);
  }
  return position > size;
}

}  // namespace

MatFile::MatFile(const std::string& path) : path_(path), lock_(matio_mutex) {
  Mat_LogInitFunc("tocca", keep_complaint);  // without one of its own, MATIO is silent or writes to stderr
  complaint.clear();
  file_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  const mat_ft version = file_ == nullptr ? MAT_FT_UNDEFINED : Mat_GetVersion(file_.get());
  if (version != MAT_FT_MAT5 && version != MAT_FT_MAT73) {
    throw InputError(path,
                     "not a MATLAB file: got other data, need a .mat file of format 5 or 7.3; save it again with "
                     "MATLAB's save");
  }
  if (version == MAT_FT_MAT5 && is_cut_short(path)) complaint = "variable that goes on behind the end of the file";
  refuse_damaged();
}

std::vector<MatVariable> MatFile::list() const {
  std::vector<MatVariable> variables;
  Mat_Rewind(file_.get());
  while (MatVariable variable{Mat_VarReadNextInfo(file_.get())}) {
    if (variable->name != nullptr && *variable->name != '\0') variables.push_back(std::move(variable));
  }
  return variables;
}

MatVariable MatFile::find(const std::string& name) const {
  complaint.clear();
  if (MatVariable variable{Mat_VarReadInfo(file_.get(), name.c_str())}) return variable;
  refuse_damaged();
  std::size_t count = 0;
  char* const* names = Mat_GetDir(file_.get(), &count);
  throw InputError(path_, unknown_name("variable", name, std::vector<std::string>(names, names + count)));
}

void MatFile::read(matvar_t& variable) const {
  complaint.clear();
  const int status = Mat_VarReadDataAll(file_.get(), &variable);
  if (status != 0 && complaint.empty()) complaint = fmt::format("MATIO's status {}", status);
  if (variable.data == nullptr && complaint.empty()) complaint = "no values";
  refuse_damaged();
}

void MatFile::refuse_damaged() const {
  if (complaint.empty()) return;
  throw InputError(path_, fmt::format("file is damaged or cut short: got '{}', need an intact file; fetch or write it "
                                      "again",
                                      complaint));
}

std::string mat_class(const matvar_t& variable) {
  const std::string_view name = variable.isLogical != 0 && variable.class_type == MAT_C_UINT8
                                    ? std::string_view("logical")
                                    : class_name(variable.class_type);
  return fmt::format("{}{}", variable.isComplex != 0 ? "complex " : "", name);
}

std::string mat_size(const matvar_t& variable) { return fmt::format("{}", fmt::join(mat_dims(variable), " x ")); }

std::span<const std::size_t> mat_dims(const matvar_t& variable) {
  return {variable.dims, variable.dims == nullptr ? 0 : static_cast<std::size_t>(variable.rank)};
}

std::span<matvar_t* const> mat_cells(const matvar_t& variable) {
  if (variable.class_type != MAT_C_CELL || variable.data == nullptr || variable.data_size <= 0) return {};
  return {static_cast<matvar_t* const*>(variable.data), variable.nbytes / static_cast<std::size_t>(variable.data_size)};
}

}  // namespace tocca::detail
