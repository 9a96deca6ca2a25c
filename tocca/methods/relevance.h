/// Which options change what a method does.
#pragma once

#include <string_view>

#include "tocca/methods/methods.h"

namespace tocca {

/// Whether an option (a name of option_fields()) can change what is fitted or predicted by a method as `resolve`
/// returns it. Options that say how to get there (seed, validation, missing values) count as having an effect.
bool has_effect(const Method& method, std::string_view option);

}  // namespace tocca
