/// The bytes of files, for the readers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace tocca::detail {

/// Throws InputError unless there is a file of that name, not a directory, that holds something.
void check_file(const std::string& path);

/// The whole content of a file, unpacked if it is gzip data (whatever its name). Throws InputError: as check_file; it
/// cannot be read; it is named .gz and is not gzip data; the gzip data are damaged or cut short.
std::string read_file(const std::string& path);

/// A file as memory that is read from disk when it is looked at. The file must not be cut while it is in use.
struct MappedFile {
  std::shared_ptr<const void> owner;
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};
MappedFile map_file(const std::string& path);

}  // namespace tocca::detail
