#include "tocca/data/readers/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>

#include "tocca/core/error.h"
#include "tocca/data/table.h"

namespace tocca::detail {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";

[[noreturn]] void refuse_unreadable(const std::string& path) {
  throw InputError(path,
                   fmt::format("file cannot be read: got '{}', need permission and a working disk; check the file",
                               std::strerror(errno)));
}

std::string read_bytes(const std::string& path) {
  check_file(path);
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::filesystem::file_size(path), '\0');
  if (!in || !in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) refuse_unreadable(path);
  return bytes;
}

/// Unpacks gzip data, also several members in a row (as bgzip and pigz write them).
class Gunzip {
 public:
  Gunzip(std::string_view packed, const std::string& path) : packed_(packed), path_(path) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  std::string run() {
    std::string out;
    // Zeros after the last member are padding; gzip ignores what follows, and so do we.
    while (packed_.substr(0, 2) == kGzipMagic) member(out);
    out.resize(filled_);
    return out;
  }

 private:
  void member(std::string& out) {
    inflateReset(&stream_);
    for (int status = Z_OK; status != Z_STREAM_END;) {
      if (filled_ == out.size()) out.resize(std::max<std::size_t>(4 * packed_.size(), 2 * out.size()) + 64);
      status = step(out);
      const bool stuck = status == Z_BUF_ERROR || (status == Z_OK && packed_.empty() && filled_ < out.size());
      if (stuck) refuse("is cut short", "all of them", "ends early");
      if (status != Z_OK && status != Z_STREAM_END) refuse("is damaged", "intact gzip data", "cannot be unpacked");
    }
  }

  int step(std::string& out) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const std::size_t in = std::min(packed_.size(), kMost);
    const std::size_t room = std::min(out.size() - filled_, kMost);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data()));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + filled_);
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    packed_.remove_prefix(in - stream_.avail_in);
    filled_ += room - stream_.avail_out;
    return status;
  }

  [[noreturn]] void refuse(std::string_view what, std::string_view need, std::string_view got) const {
    throw InputError(path_,
                     fmt::format("gzip file {}: got data that {} after {} unpacked bytes, need {}; fetch the file "
                                 "again",
                                 what, got, filled_, need));
  }

  std::string_view packed_;
  const std::string& path_;
  std::size_t filled_ = 0;
  z_stream stream_{};
};

}  // namespace

void check_file(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InputError(path, fmt::format("file not found: got '{}', need a file that exists; check the path", path));
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(path, "is a directory: got a directory, need a file; name a file in it");
  }
  const auto size = std::filesystem::file_size(path, failed);
  if (!failed && size == 0) {
    throw InputError(path, "file is empty: got 0 bytes, need a table of numbers; check how it was written");
  }
  if (failed || access(path.c_str(), R_OK) != 0) refuse_unreadable(path);
}

std::string read_file(const std::string& path) {
  std::string bytes = read_bytes(path);
  const bool packed = std::string_view(bytes).substr(0, 2) == kGzipMagic;
  if (!packed && path.ends_with(".gz")) {
    throw InputError(path, "not a gzip file: got other data, need gzip data; fetch it again, or take .gz off its name");
  }
  if (packed) return Gunzip(bytes, path).run();
  return bytes;
}

MappedFile map_file(const std::string& path) {
  check_file(path);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) refuse_unreadable(path);
  const off_t size = lseek(file, 0, SEEK_END);
  void* memory = size > 0 ? mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const int reason = errno;
  close(file);
  errno = reason;
  if (memory == MAP_FAILED) refuse_unreadable(path);

  const auto bytes = static_cast<std::size_t>(size);
  std::shared_ptr<const void> owner(memory, Unmap{bytes});
  return {std::move(owner), static_cast<const unsigned char*>(memory), bytes};
}

}  // namespace tocca::detail
