#include "tocca/core/version.h"

namespace tocca {

std::string_view version() { return TOCCA_VERSION; }

}  // namespace tocca
