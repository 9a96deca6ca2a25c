/// Files that commands write.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca::cli {

/// Throws InputError, naming the option, if a file of that path could not be written: so that a long computation is not
/// lost at its end.
void require_writable(const std::string& option, const std::string& path);
/// Throws InputError, naming the option, if writing `path` would replace one of the `inputs` (by whatever name or
/// link).
void require_not_input(const std::string& option, const std::string& path, const std::vector<std::string>& inputs);
/// Throws InputError, naming both options, if two of the files to be written are the same; empty names do not count.
void require_distinct(const std::vector<std::pair<std::string, std::string>>& outputs);
/// A trial store and the files that SQLite keeps beside it.
std::vector<std::pair<std::string, std::string>> store_files(const std::string& option, const std::string& path);
/// Makes the folder where it is missing. Throws InputError, naming the option, if that fails or it is not writable.
void require_folder(const std::string& option, const std::string& path);

/// Numbers of samples; a NaN is an empty field in CSV.
struct SampleTable {
  std::vector<std::string> samples;  ///< (n)
  std::vector<std::string> columns;  ///< (c)
  Matrix<double> values;             ///< (n × c)
};
/// `sample` and the columns, numbers with as many digits as it takes to read the same value back.
void write_csv(const std::string& path, const SampleTable& table);
/// The numbers alone, as float64 (n × c).
void write_npy(const std::string& path, const Matrix<double>& values);

}  // namespace tocca::cli
