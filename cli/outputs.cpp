#include "cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"
#include "tocca/data/text.h"

namespace tocca::cli {
namespace fs = std::filesystem;

void require_writable(const std::string& option, const std::string& path) {
  std::error_code ignored;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (path.empty()) throw InputError(option, "got an empty name, need a file to write");
  if (lower_case(path).ends_with(".gz")) {
    throw InputError(option, fmt::format("'{}': files are not packed when they are written; leave out .gz", path));
  }
  if (fs::is_directory(path, ignored)) throw InputError(option, fmt::format("'{}' is a folder, need a file", path));
  if (!fs::exists(folder, ignored)) {
    throw InputError(option, fmt::format("folder '{}' does not exist; make it first", folder.string()));
  }
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(option, fmt::format("'{}' is not a folder", folder.string()));
  }
  const bool special = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  if (!special && access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError(option, fmt::format("folder '{}' is not writable", folder.string()));
  }
}

void require_not_input(const std::string& option, const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code no_such_file;
    if (!fs::equivalent(path, input, no_such_file) || !fs::is_regular_file(path, no_such_file)) continue;
    throw InputError(option,
                     fmt::format("'{}' is an input of this command and would be replaced; give another file", path));
  }
}

void require_distinct(const std::vector<std::pair<std::string, std::string>>& outputs) {
  std::map<std::string, std::string> option_of;
  for (const auto& [option, path] : outputs) {
    if (path.empty()) continue;
    std::error_code ignored;
    const auto [there, is_new] = option_of.emplace(fs::weakly_canonical(path, ignored).string(), option);
    if (is_new) continue;
    throw InputError(option, fmt::format("'{}' is written by {}, too; give another file", path, there->second));
  }
}

std::vector<std::pair<std::string, std::string>> store_files(const std::string& option, const std::string& path) {
  if (path.empty()) return {};
  return {{option, path}, {option, path + "-wal"}, {option, path + "-shm"}, {option, path + ".checkpoints"}};
}

void require_folder(const std::string& option, const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (!fs::is_directory(path)) {
    throw InputError(option, fmt::format("cannot make the folder '{}': {}", path, failed.message()));
  }
  require_writable(option, (fs::path(path) / "report.html").string());
}

void write_csv(const std::string& path, const SampleTable& table) {
  write_file(path, [&](std::ostream& out) {
    out << "sample";
    for (const std::string& column : table.columns) out << ',' << csv_field(column);
    out << '\n';
    for (Index i = 0; i < table.values.rows(); ++i) {
      std::string line = csv_field(table.samples[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < table.values.cols(); ++j) {
        const double value = table.values(i, j);
        line += ',';
        if (!std::isnan(value)) fmt::format_to(std::back_inserter(line), "{}", value);
      }
      out << line << '\n';
    }
  });
}

void write_npy(const std::string& path, const Matrix<double>& values) {
  static_assert(std::endian::native == std::endian::little, "the header below says little-endian");
  constexpr std::size_t kMagic = 10;  // "\x93NUMPY", version 1.0, length of the header
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", values.rows(), values.cols());
  // Padded so that the numbers start at a multiple of 64 bytes and the file can be mapped.
  header.append(63 - (kMagic + header.size()) % 64, ' ').push_back('\n');
  write_file(path, [&](std::ostream& out) {
    out << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header.size() % 256)
        << static_cast<char>(header.size() / 256) << header;
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(static_cast<std::size_t>(values.size()) * sizeof(double)));
  });
}

}  // namespace tocca::cli
