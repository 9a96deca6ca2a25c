#include "tocca/data/readers/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tocca/core/error.h"
#include "tocca/data/readers/test_gzip.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::detail {
namespace {

using ::testing::AllOf;
using testing::error_message;
using testing::gzip;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TempDir;

std::string refusal(const std::string& path) {
  return error_message<InputError>([&] { read_file(path); });
}

std::string mixed_text(int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += static_cast<char>('a' + (i % 97) * (i % 89) % 26);
  return text;
}

TEST(File, ReadsPlainAndPackedFiles) {
  const TempDir dir;
  const std::string text = mixed_text(100000);
  EXPECT_EQ(read_file(dir.write("plain.csv", text)), text);
  EXPECT_EQ(read_file(dir.write("packed.csv.gz", gzip(text))), text);
  EXPECT_EQ(read_file(dir.write("packed_but_not_named_so.csv", gzip(text))), text);
}

TEST(File, UnpacksSeveralMembersPaddingAndHighCompression) {
  const TempDir dir;
  const std::string zeros(3000000, '0');
  EXPECT_EQ(read_file(dir.write("members.gz", gzip("one,") + gzip("") + gzip(zeros) + std::string(512, '\0'))),
            "one," + zeros);
}

TEST(File, NamesWhatIsNotAFile) {
  const TempDir dir;
  EXPECT_EQ(refusal(dir.file("none.csv")), "[" + dir.file("none.csv") + "] file not found: got '" +
                                               dir.file("none.csv") + "', need a file that exists; check the path");
  EXPECT_THAT(refusal(dir.path().string()), HasSubstr("] is a directory: got a directory, need a file; name a file"));
  EXPECT_THAT(refusal(dir.write("empty.csv", "")), HasSubstr("] file is empty: got 0 bytes, need a table of numbers"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("] file"));
}

TEST(File, RefusesDamagedGzip) {
  const TempDir dir;
  const std::string packed = gzip(mixed_text(20000));
  EXPECT_THAT(refusal(dir.write("other.gz", "a,b\n")), HasSubstr("not a gzip file: got other data, need gzip data"));
  for (const std::size_t kept : {std::size_t{2}, std::size_t{9}, packed.size() / 2, packed.size() - 1}) {
    EXPECT_THAT(refusal(dir.write("cut.gz", std::string_view(packed).substr(0, kept))),
                AllOf(StartsWith("[" + dir.file("cut.gz") + "] gzip file is cut short: got data that ends early after"),
                      HasSubstr("fetch the file again")))
        << kept;
  }
  std::string damaged = packed;
  damaged[packed.size() - 6] = static_cast<char>(damaged[packed.size() - 6] ^ 1);
  EXPECT_THAT(refusal(dir.write("damaged.gz", damaged)), HasSubstr("gzip file is damaged: got data that cannot be"));
}

TEST(File, MapsWithoutCopying) {
  const TempDir dir;
  const MappedFile mapped = map_file(dir.write("a.bin", "12345"));
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(mapped.bytes), mapped.size), "12345");
  EXPECT_THAT(error_message<InputError>([&] { map_file(dir.file("b.bin")); }), HasSubstr("file not found"));
}

}  // namespace
}  // namespace tocca::detail
