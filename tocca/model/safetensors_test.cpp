#include "tocca/model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "tocca/core/error.h"
#include "tocca/core/file.h"

namespace tocca {
namespace {

using testing::HasSubstr;

class TensorFileTest : public testing::Test {
 protected:
  ~TensorFileTest() override { std::filesystem::remove(path_); }

  // A file of that header and that many bytes of data.
  void write(const std::string& header, std::size_t data_bytes, std::uint64_t more_length = 0) const {
    write_file(path_, [&](std::ostream& out) {
      const std::uint64_t length = header.size() + more_length;
      out.write(reinterpret_cast<const char*>(&length), 8);
      out << header << std::string(data_bytes, '\0');
    });
  }
  // What loading says about it.
  [[nodiscard]] std::string complaint() const {
    try {
      TensorFile::load(path_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  [[nodiscard]] std::string complaint(const std::string& header, std::size_t data_bytes) const {
    write(header, data_bytes);
    return complaint();
  }

  std::string path_ =
      (std::filesystem::temp_directory_path() / ("tocca-" + std::to_string(::getpid()) + ".safetensors")).string();
};

template <class S>
void expect_same_bits(const Matrix<S>& a, const Matrix<S>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(S)), 0);
}

template <class S>
Matrix<S> peculiar_numbers() {
  using Limits = std::numeric_limits<S>;
  Matrix<S> m(3, 3);
  m << Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), S(-0.0),
      Limits::denorm_min(), Limits::max(), Limits::lowest(), S(0.1);
  return m;
}

TEST_F(TensorFileTest, RoundTripIsExactToTheBit) {
  const Matrix<float> floats = peculiar_numbers<float>();
  const Matrix<double> doubles = peculiar_numbers<double>();
  const Matrix<Index> integers{{std::numeric_limits<Index>::min(), -1, std::numeric_limits<Index>::max()}};
  TensorFile file;
  file.metadata = {{"method", "tocca-w"}, {"names", "[\"a\",\"β\\n\"]"}, {"empty", ""}};
  file.add("f", floats);
  file.add("d", doubles);
  file.add("i", integers);
  file.add("no rows", Matrix<double>(0, 7));
  file.add("a vector", Vector<double>::LinSpaced(4, 0, 3));
  file.save(path_);

  const TensorFile same = TensorFile::load(path_);
  EXPECT_EQ(same.metadata, file.metadata);
  EXPECT_EQ(same.names(), file.names());
  EXPECT_TRUE(same.has("f"));
  EXPECT_FALSE(same.has("g"));
  expect_same_bits(same.matrix_f("f"), floats);
  expect_same_bits(same.matrix_d("d"), doubles);
  expect_same_bits(same.matrix_i("i"), integers);
  EXPECT_EQ(same.matrix_d("no rows").cols(), 7);
  EXPECT_EQ(same.matrix_d("a vector").rows(), 4);
}

TEST_F(TensorFileTest, RowsOfALargerMatrixAreStoredAlone) {
  const Matrix<float> large{{1, 2, 3}, {4, 5, 6}};
  TensorFile file;
  file.add("block", large.leftCols(2));
  EXPECT_EQ(file.matrix_f("block"), (Matrix<float>{{1, 2}, {4, 5}}));
}

TEST_F(TensorFileTest, TheLayoutIsTheFormats) {
  TensorFile file;
  file.add("a", Matrix<float>{{1, 2, 3}});
  file.add("b", Matrix<double>{{4}});
  file.save(path_);
  const std::string content = read_file(path_);
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(content.size(), 8 + length + 12 + 8);
  const auto header = nlohmann::json::parse(content.substr(8, length));
  EXPECT_EQ(header, nlohmann::json::parse(R"({"a": {"dtype": "F32", "shape": [1, 3], "data_offsets": [8, 20]},
                                              "b": {"dtype": "F64", "shape": [1, 1], "data_offsets": [0, 8]}})"));
  double first = 0;
  std::memcpy(&first, content.data() + 8 + length, 8);
  EXPECT_EQ(first, 4.0);
}

TEST_F(TensorFileTest, ReadsOtherWritersVectorsScalarsAndEmptyFiles) {
  write(R"({"v": {"dtype": "F64", "shape": [2], "data_offsets": [8, 24]},
            "s": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}})",
        24);
  const TensorFile file = TensorFile::load(path_);
  EXPECT_EQ(file.matrix_d("v"), (Matrix<double>{{0, 0}}));
  EXPECT_EQ(file.matrix_i("s"), (Matrix<Index>{{0}}));
  write("{}", 0);
  EXPECT_TRUE(TensorFile::load(path_).names().empty());
}

TEST_F(TensorFileTest, WhatIsNoModelFileIsSaid) {
  write_file(path_, [](std::ostream& out) { out << "a,b\n"; });
  EXPECT_EQ(complaint(), "[load model] " + path_ + ": not a model file: got 4 bytes, need at least 8");
  write_file(path_, [](std::ostream& out) { out << "sample,a,b\nx,1,2\n"; });
  EXPECT_THAT(complaint(), HasSubstr("not a model file: it would have a header of 7002"));
  EXPECT_THAT(complaint("{\"a\": ", 0), HasSubstr("not a model file: its header is not a JSON object"));
  EXPECT_THAT(complaint("[1]", 0), HasSubstr("not a model file: its header is not a JSON object"));
  EXPECT_THAT(complaint(std::string(100000, '['), 0), HasSubstr("not a model file"));
}

TEST_F(TensorFileTest, WhatIsCutShortIsSaidInBytes) {
  write("{}", 0, 100);
  EXPECT_THAT(complaint(), HasSubstr("cut short: got 2 bytes of header, need 102; copy the file again"));
  const std::string header = R"({"a": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}})";
  EXPECT_THAT(complaint(header, 20), HasSubstr("cut short: got 20 bytes of data, need 24; copy the file again"));
  EXPECT_THAT(complaint(header, 25), HasSubstr("damaged: 1 bytes at its end belong to no tensor"));
}

TEST_F(TensorFileTest, OverlapsAndGapsAreSaid) {
  EXPECT_THAT(complaint(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                            "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}})",
                        12),
              HasSubstr("damaged header: tensors 'a' and 'b' overlap"));
  EXPECT_THAT(complaint(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                            "b": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}})",
                        16),
              HasSubstr("damaged header: 4 bytes before tensor 'b' belong to nothing"));
}

// One tensor 'a' of that dtype, shape and data_offsets, in 8 bytes of data.
std::string header_of(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a": {"dtype": )" + dtype + R"(, "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}}";
}

TEST_F(TensorFileTest, EveryFaultOfATensorIsSaidWithItsName) {
  const auto said = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    const std::string text = complaint(header_of(dtype, shape, offsets), 8);
    const std::string start = "[load model] " + path_ + ": damaged header: tensor 'a': ";
    return text.starts_with(start) ? text.substr(start.size()) : text;
  };
  EXPECT_EQ(said("\"BF16\"", "[4]", "[0, 8]"), "unknown dtype BF16, need F32, F64 or I64");
  EXPECT_EQ(said("32", "[2]", "[0, 8]"), "it has no dtype");
  EXPECT_EQ(said("\"F32\"", "[3]", "[0, 8]"), "its shape [3] of F32 does not take the 8 bytes it has");
  EXPECT_EQ(said("\"F32\"", "[1]", "[0, 7]"), "its shape [1] of F32 does not take the 7 bytes it has");
  EXPECT_EQ(said("\"F32\"", "[0]", "[0, 8]"), "its shape [0] of F32 does not take the 8 bytes it has");
  EXPECT_EQ(said("\"F32\"", "[1, 1, 2]", "[0, 8]"), "got a shape of 3 dimensions, need at most 2");
  EXPECT_EQ(said("\"F32\"", "[-2]", "[0, 8]"), "shape: got -2, need counts");
  EXPECT_EQ(said("\"F32\"", "[2]", "[0, 8.5]"), "data_offsets: got 8.5, need counts");
  EXPECT_EQ(said("\"F32\"", "2", "[0, 8]"), "it has no shape");
  EXPECT_EQ(said("\"F32\"", "[2]", "[8, 0]"), "its data_offsets are not begin and end");
  EXPECT_EQ(said("\"F32\"", "[2]", "[0]"), "its data_offsets are not begin and end");
  EXPECT_THAT(complaint(R"({"a": 5})", 0), HasSubstr("tensor 'a': it has no dtype"));
}

TEST_F(TensorFileTest, SizesThatOverflowAreNotTrusted) {
  // 2³² · 2³¹ · 8 bytes is 2⁶⁶: zero, modulo 2⁶⁴.
  EXPECT_THAT(complaint(header_of("\"F64\"", "[4294967296, 2147483648]", "[0, 0]"), 0), HasSubstr("its shape"));
  EXPECT_THAT(complaint(header_of("\"F32\"", "[0, 18446744073709551615]", "[0, 0]"), 0), HasSubstr("its shape"));
  EXPECT_THAT(complaint(header_of("\"F32\"", "[4611686018427387901]", "[8, 18446744073709551612]"), 8),
              HasSubstr("8 bytes before tensor 'a' belong to nothing"));
  EXPECT_THAT(complaint(header_of("\"F32\"", "[4611686018427387903]", "[0, 18446744073709551612]"), 8),
              HasSubstr("cut short: got 8 bytes of data, need 18446744073709551612"));
  EXPECT_THAT(complaint(header_of("\"F32\"", "[99999999999999999999]", "[0, 0]"), 0), HasSubstr("need counts"));
}

TEST_F(TensorFileTest, MetadataMustBeTexts) {
  EXPECT_THAT(complaint(R"({"__metadata__": {"epochs": 3}})", 0), HasSubstr("entry 'epochs' is not a text"));
  EXPECT_THAT(complaint(R"({"__metadata__": []})", 0), HasSubstr("__metadata__ is not an object"));
}

TEST_F(TensorFileTest, WhatIsAskedForMustBeThere) {
  TensorFile file;
  file.add("weights.0", Matrix<float>{{1}});
  const auto complaint_of = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(complaint_of([&] { std::ignore = file.matrix_f("weights.1"); }),
            "[load model] unknown tensor 'weights.1': did you mean weights.0? Known: weights.0");
  EXPECT_EQ(complaint_of([&] { std::ignore = file.matrix_d("weights.0"); }),
            "[load model] tensor 'weights.0': got dtype F32, need F64");
  EXPECT_THAT(complaint_of([&] { file.add("weights.0", Matrix<float>{{1}}); }), HasSubstr("already a tensor"));
  EXPECT_THAT(complaint_of([&] { file.add("__metadata__", Matrix<float>{{1}}); }), HasSubstr("is reserved"));
  file.metadata["name"] = "\xff";
  EXPECT_THAT(complaint_of([&] { file.save(path_); }), HasSubstr("not UTF-8; convert it"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TensorFileTest, NoPrefixOfAFileIsAccepted) {
  TensorFile file;
  file.metadata["a"] = "b";
  file.add("m", Matrix<double>{{1, 2}, {3, 4}});
  file.save(path_);
  const std::string content = read_file(path_);
  for (std::size_t length = 0; length < content.size(); ++length) {
    write_file(path_, [&](std::ostream& out) { out.write(content.data(), static_cast<std::streamsize>(length)); });
    EXPECT_THROW(TensorFile::load(path_), InputError) << length;
  }
}

}  // namespace
}  // namespace tocca
