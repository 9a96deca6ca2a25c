/// Running commands in a test, and files for them.
#pragma once

#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.h"
#include "tocca/core/rng.h"
#include "tocca/testing/temp_dir.h"

namespace tocca::cli::testing {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline Outcome tocca(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = run(arguments, out, err);
  return {code, out.str(), err.str()};
}

/// The arguments and some more.
inline std::vector<std::string> with(std::vector<std::string> arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
  return arguments;
}

inline std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

/// Two views of 90 samples of three classes, left.csv (columns l0 ... l4) and right.csv (r0 ... r3), and labels.csv
/// with the column `class`; ids p0 ... p89.
class Files {
 public:
  Files() {
    Rng rng(3);
    std::ostringstream left, right, labels;
    left << "sample,l0,l1,l2,l3,l4\n";
    right << "sample,r0,r1,r2,r3\n";
    labels << "sample,class,sex\n";
    for (int i = 0; i < 90; ++i) {
      row(left, i, 5, rng);
      row(right, i, 4, rng);
      labels << 'p' << i << ',' << std::string("abc")[static_cast<std::size_t>(i % 3)] << ',' << i % 2 << '\n';
    }
    dir.write("left.csv", left.str());
    dir.write("right.csv", right.str());
    dir.write("labels.csv", labels.str());
  }

  [[nodiscard]] std::vector<std::string> both() const {
    return {"--view", "left=" + dir.file("left.csv"), "--view", "right=" + dir.file("right.csv")};
  }
  [[nodiscard]] std::string labels() const { return dir.file("labels.csv") + ":class"; }
  [[nodiscard]] std::string model() const { return dir.file("model.safetensors"); }

  /// `fit` of a small network, which takes a moment.
  [[nodiscard]] std::vector<std::string> fit(std::initializer_list<std::string> more = {}) const {
    std::vector<std::string> arguments{"fit",          "--labels", labels(), "--model",       model(), "--threads", "1",
                                       "--components", "3",        "--set",  "hidden_size=8", "--set", "epochs=4"};
    for (const std::string& view : both()) arguments.push_back(view);
    return with(std::move(arguments), more);
  }
  /// A command on the fitted model with the views given.
  [[nodiscard]] std::vector<std::string> apply(const std::string& command,
                                               std::initializer_list<std::string> more = {}) const {
    std::vector<std::string> arguments{command, "--model", model(), "--threads", "1"};
    return with(std::move(arguments), more);
  }

  ::tocca::testing::TempDir dir;

 private:
  static void row(std::ostream& out, int i, int columns, Rng& rng) {
    out << 'p' << i;
    for (int j = 0; j < columns; ++j) out << ',' << (j % 3 == i % 3 ? 2 : 0) + rng.normal();
    out << '\n';
  }
};

}  // namespace tocca::cli::testing
