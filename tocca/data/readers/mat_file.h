/// Variables of MATLAB files, as MATIO gives them: a thin layer that owns them and turns its complaints into errors.
#pragma once

#include <matio.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tocca::detail {

struct FreeMatVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatVariable = std::unique_ptr<matvar_t, FreeMatVariable>;

/// A MATLAB file of format 5, or 7.3, which is HDF5. Neither MATIO nor HDF5 may be used by two threads at a
/// time: only one object exists at any moment, others wait. Its variables must not outlive it.
class MatFile {
 public:
  /// Throws InputError if it is no MATLAB file, or is damaged.
  explicit MatFile(const std::string& path);

  /// Every variable, without its values.
  [[nodiscard]] std::vector<MatVariable> list() const;
  /// A variable, without its values. Throws InputError that lists the names there are.
  [[nodiscard]] MatVariable find(const std::string& name) const;
  /// Reads the values of a variable, or of a cell of one. Throws InputError if the file is damaged or cut short.
  void read(matvar_t& variable) const;

 private:
  struct Close {
    void operator()(mat_t* file) const { Mat_Close(file); }
  };
  void refuse_damaged() const;

  std::string path_;
  std::unique_lock<std::mutex> lock_;
  std::unique_ptr<mat_t, Close> file_;
};

/// "double", "logical", "cell", ... as MATLAB calls it; "complex double".
std::string mat_class(const matvar_t& variable);
/// "210 x 1302"
std::string mat_size(const matvar_t& variable);
std::span<const std::size_t> mat_dims(const matvar_t& variable);
/// The cells of a cell array, down its columns; null where the file lacks one. Nothing for others.
std::span<matvar_t* const> mat_cells(const matvar_t& variable);

}  // namespace tocca::detail
