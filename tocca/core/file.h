/// Whole files: read at once, and written so that whoever looks sees the old content or the new one, never a part.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace tocca {

/// Calls `write` with a stream whose content becomes the file `path`. It goes to a temporary file in the same folder,
/// which replaces `path` only when everything has reached the disk. On any failure, an exception from `write` (passed
/// on) included, the temporary file is removed and a file that was there before is untouched. A symbolic link keeps
/// pointing where it did, and an existing file keeps its permissions. What is no regular file (/dev/stdout, a pipe) is
/// written to directly.
///
/// Throws InputError when `path` cannot be written to because of what it is: its folder does not exist or is not
/// writable, or it is itself a folder. Throws Error when writing fails: disk or quota full, input/output error.
///
/// Example:
///     write_file("result.csv", [&](std::ostream& out) { out << "sample,score\n"; });
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

/// The content of a file. Throws InputError when it does not exist, is a folder or may not be read; Error when reading
/// fails.
std::string read_file(const std::string& path);

}  // namespace tocca
