/// Texts of MATLAB files.
#pragma once

#include <string>
#include <vector>

#include "tocca/data/readers/mat_file.h"

namespace tocca::detail {

/// The rows of a char matrix that has been read, as UTF-8 without blanks at either end.
std::vector<std::string> mat_texts(const matvar_t& chars);

}  // namespace tocca::detail
