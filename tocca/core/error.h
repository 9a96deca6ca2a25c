/// The exceptions of the library. A message reads `[where] what is wrong: got X, need Y; do Z`.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tocca {

/// Something failed that the caller did not cause directly: a full disk, a numerical library's error code.
class Error : public std::runtime_error {
 public:
  Error(std::string_view where, std::string_view what) : std::runtime_error(compose(where, what)) {}

 private:
  static std::string compose(std::string_view where, std::string_view what) {
    std::string text;
    text.reserve(where.size() + what.size() + 3);
    text.append("[").append(where).append("] ").append(what);
    return text;
  }
};

/// What was asked or handed in is not usable, and the caller can mend it (a file, an option, a shape).
class InputError : public Error {
 public:
  using Error::Error;
};

/// The context was cancelled before there was anything to keep.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace tocca
