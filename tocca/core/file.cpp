#include "tocca/core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <streambuf>
#include <system_error>
#include <vector>

#include "tocca/core/error.h"

namespace tocca {
namespace {

constexpr std::size_t kBufferSize = 1U << 16;

// Closes on the way out; close() tells whether the operating system had anything left to complain about.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  int close() {
    const int result = valid() ? ::close(fd_) : 0;
    fd_ = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

// A stream buffer over a descriptor that remembers the errno of the first failure, which std::ofstream does not tell.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd), buffer_(kBufferSize) { empty(); }
  [[nodiscard]] int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (!drain()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return drain() ? 0 : -1; }

 private:
  void empty() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  bool drain() {
    const char* from = pbase();
    while (error_ == 0 && from != pptr()) {
      const ssize_t written = ::write(fd_, from, static_cast<std::size_t>(pptr() - from));
      if (written >= 0) {
        from += written;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    empty();
    return error_ == 0;
  }

  int fd_;
  int error_ = 0;
  std::vector<char> buffer_;
};

std::string reason(int error) { return std::generic_category().message(error); }

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

[[noreturn]] void fail_to_open(const std::string& path, int error) {
  std::error_code ignored;
  const std::string folder = folder_of(path);
  const std::string subject = path + ": ";
  if (!std::filesystem::is_directory(folder, ignored) && (error == ENOENT || error == ENOTDIR)) {
    throw InputError("write file", subject + "there is no folder " + folder + "; create it or choose another path");
  }
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
    case EIO:
      throw Error("write file", subject + reason(error) + "; mend that and try again");
    case EISDIR:
      throw InputError("write file", subject + "this is a folder; give the name of a file");
    default:
      throw InputError("write file", subject + reason(error) + "; choose a path that you may write to");
  }
}

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const std::string advice = full ? "; free some space or choose another disk" : "; check the disk";
  throw Error("write file", path + ": " + reason(error) + advice);
}

// Runs `write` on the descriptor; returns when the bytes are with the operating system, and on the disk if `durable`.
void write_through(Descriptor& file, const std::string& path, bool durable,
                   const std::function<void(std::ostream&)>& write) {
  DescriptorBuffer buffer(file.get());
  std::ostream out(&buffer);
  write(out);
  out.flush();
  if (buffer.error() != 0) fail_to_write(path, buffer.error());
  if (!out) throw Error("write file", path + ": the content could not be produced");
  if (durable && ::fsync(file.get()) != 0) fail_to_write(path, errno);
  if (const int error = file.close(); error != 0) fail_to_write(path, error);
}

// Removed again unless it is kept.
struct TemporaryFile {
  TemporaryFile(std::string its_name, int fd) : name(std::move(its_name)), file(fd), keep(fd < 0) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!keep) ::unlink(name.c_str());
  }

  std::string name;
  Descriptor file;
  bool keep;
};

// Process and number make the name unique here; O_EXCL catches other machines' and crashed processes' files.
TemporaryFile create_beside(const std::string& path) {
  static std::atomic<unsigned> number{0};
  for (;;) {
    std::string name = folder_of(path) + "/.tocca-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return {std::move(name), fd};
  }
}

// Makes the renaming itself survive a power cut. File systems that cannot do this are no reason to fail.
void sync_folder(const std::string& folder) {
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) ::fsync(directory.get());
}

void write_directly(const std::string& path, const std::function<void(std::ostream&)>& write) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) fail_to_open(path, errno);
  write_through(file, path, false, write);
}

}  // namespace

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  // Renaming would replace a write-protected file without asking.
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_to_open(path, errno);
  if (exists && !S_ISREG(old.st_mode)) {
    write_directly(path, write);
    return;
  }
  const std::string target = exists ? std::filesystem::canonical(path).string() : path;
  TemporaryFile temporary = create_beside(target);
  if (!temporary.file.valid()) fail_to_open(path, errno);
  if (exists && ::fchmod(temporary.file.get(), old.st_mode & 07777) != 0) fail_to_write(path, errno);
  write_through(temporary.file, path, true, write);
  if (::rename(temporary.name.c_str(), target.c_str()) != 0) fail_to_write(path, errno);
  temporary.keep = true;
  sync_folder(folder_of(target));
}

std::string read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) throw InputError("read file", path + ": " + reason(errno) + "; check the path");
  std::string content;
  std::vector<char> buffer(kBufferSize);
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count > 0) {
      content.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno == EISDIR) {
      throw InputError("read file", path + ": this is a folder; give the name of a file");
    } else if (errno != EINTR) {
      throw Error("read file", path + ": " + reason(errno) + "; check the disk");
    }
  }
}

}  // namespace tocca
