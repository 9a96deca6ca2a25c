/// What a path such as `data.mat:X{2}'` says.
#pragma once

#include <string>
#include <string_view>

#include "tocca/core/matrix.h"

namespace tocca::detail {

/// An array of a MATLAB file, named as MATLAB writes it: `X`, `X{2}` or `X(2)` (cell 2 of a cell array, counted from 1,
/// down its columns), `X'` (transposed).
struct MatPath {
  std::string file;
  std::string variable;  ///< empty: not said
  Index cell = 0;        ///< 0: none
  bool transposed = false;

  /// "X{2}", in this notation whichever was used, without what says that it is transposed.
  [[nodiscard]] std::string array() const;
  /// "data.mat:X{2}'"
  [[nodiscard]] std::string text() const;
};

/// `data.mat` of `data.mat:X`. What follows the last ':' names an array only if a name that ends in .mat (in any case)
/// comes before it and the whole names no file, so that other paths may hold a ':'.
std::string mat_file_of(const std::string& path);

/// Throws InputError: an empty name, a cell that is no number from 1 on.
MatPath parse_mat_path(const std::string& path);
MatPath parse_mat_array(const std::string& file, std::string_view array);

}  // namespace tocca::detail
