#include "tocca/core/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <tuple>

#include "tocca/core/error.h"
#include "tocca/testing/not_root.h"

namespace tocca {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "tocca-file-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  fs::path folder_;
};

// While it lives no file can grow beyond `bytes`: what a full disk does, for this process only.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::ignore = std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int);
};

void write_text(const std::string& path, const std::string& text) {
  write_file(path, [&](std::ostream& out) { out << text; });
}

template <class Exception, class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(FileTest, WritesAndReadsBack) {
  std::string bytes(300000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  write_text(path("a"), bytes);
  EXPECT_EQ(read_file(path("a")), bytes);
  write_text(path("a"), "");
  EXPECT_EQ(read_file(path("a")), "");
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, AFullDiskLeavesTheOldFileAndNothingElse) {
  write_text(path("a"), "old");
  const std::string message = message_of<Error>([&] {
    const SmallDisk disk(100000);
    write_text(path("a"), std::string(1000000, 'x'));
  });
  EXPECT_THAT(message, HasSubstr("[write file] " + path("a") + ": "));
  EXPECT_THAT(message, HasSubstr("; free some space or choose another disk"));
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, AFullDiskIsNoticedInTheLastBytesToo) {
  const SmallDisk disk(10);
  EXPECT_THROW(write_text(path("a"), "eleven bytes"), Error);
  EXPECT_EQ(files(), 0);
}

TEST(File, AFullDeviceIsAnErrorThatIsNotTheInputs) {
  ASSERT_TRUE(fs::exists("/dev/full"));
  try {
    write_text("/dev/full", "text");
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    FAIL() << "an InputError: " << error.what();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("No space left on device; free some space"));
  }
}

TEST_F(FileTest, AFailingWriterLeavesTheOldFileAndNothingElse) {
  write_text(path("a"), "old");
  const auto failing = [](std::ostream& out) {
    out << std::string(200000, 'x');
    throw std::logic_error("the writer's own");
  };
  EXPECT_THROW(write_file(path("a"), failing), std::logic_error);
  const auto giving_up = [](std::ostream& out) { out.setstate(std::ios::failbit); };
  EXPECT_THROW(write_file(path("a"), giving_up), Error);
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, AMissingFolderIsNamed) {
  EXPECT_THAT(message_of<InputError>([&] { write_text(path("no/a"), "x"); }),
              HasSubstr(": there is no folder " + path("no") + "; create it"));
  write_text(path("a"), "old");
  EXPECT_THAT(message_of<InputError>([&] { write_text(path("a/b"), "x"); }), HasSubstr("there is no folder"));
}

TEST_F(FileTest, AFolderIsNoFile) {
  EXPECT_THAT(message_of<InputError>([&] { write_text(folder_.string(), "x"); }), HasSubstr("this is a folder"));
  EXPECT_THAT(message_of<InputError>([&] { read_file(folder_.string()); }), HasSubstr("this is a folder"));
}

TEST_F(FileTest, AProtectedFolderOrFileIsLeftAlone) {
  write_text(path("a"), "old");
  fs::permissions(path("a"), fs::perms(0444));
  fs::permissions(folder_, fs::perms(0755));
  const tocca::testing::NotRoot nobody;
  EXPECT_THAT(message_of<InputError>([&] { write_text(path("a"), "x"); }), HasSubstr("Permission denied; choose"));
  if (::access(folder_.c_str(), W_OK) == 0) ::chmod(folder_.c_str(), 0555);
  EXPECT_THAT(message_of<InputError>([&] { write_text(path("b"), "x"); }), HasSubstr("Permission denied; choose"));
  EXPECT_EQ(read_file(path("a")), "old");
}

TEST_F(FileTest, LinksAndPermissionsAreKept) {
  write_text(path("a"), "old");
  fs::permissions(path("a"), fs::perms(0640));
  fs::create_symlink("a", path("link"));
  write_text(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, WhatIsNoRegularFileIsWrittenToDirectly) {
  write_text("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, AMissingFileIsNamed) {
  EXPECT_EQ(message_of<InputError>([&] { read_file(path("none")); }),
            "[read file] " + path("none") + ": No such file or directory; check the path");
}

}  // namespace
}  // namespace tocca
