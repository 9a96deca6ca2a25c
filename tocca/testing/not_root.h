/// Being somebody to whom file permissions apply.
#pragma once

#include <unistd.h>

#include <tuple>

namespace tocca::testing {

/// While it lives, a test that was started as root is nobody: permissions do not bind root.
class NotRoot {
 public:
  NotRoot() {
    if (root_) std::ignore = ::seteuid(65534);
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() {
    if (root_) std::ignore = ::seteuid(0);
  }

 private:
  const bool root_ = ::geteuid() == 0;
};

}  // namespace tocca::testing
