/// The version of the library.
#pragma once

#include <string_view>

namespace tocca {

/// "major.minor.patch", as the project's CMakeLists.txt has it.
std::string_view version();

}  // namespace tocca
