/// Named matrices and texts in one file, in the safetensors format: 8 bytes (the length of the header), a JSON header
/// {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets"}, ...}, then the numbers, little-endian.
/// The format is described at https://github.com/huggingface/safetensors; its Python package reads what is written
/// here, and the other way round for the number types F32, F64 and I64 and tensors of at most two dimensions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// Example:
///     TensorFile file;
///     file.metadata["method"] = "cca";
///     file.add("weights", weights);                              // Matrix<float>, (d × k)
///     file.save("model.safetensors");
///     Matrix<float> same = TensorFile::load("model.safetensors").matrix_f("weights");   // bit for bit
class TensorFile {
 public:
  std::map<std::string, std::string> metadata;  ///< texts, in UTF-8

  /// Adds a matrix (a vector is one with one row or column). Throws InputError if the name is already taken, or is
  /// the reserved `__metadata__`.
  void add(const std::string& name, ConstMatrixRef<float> values);
  void add(const std::string& name, ConstMatrixRef<double> values);
  void add(const std::string& name, ConstMatrixRef<Index> values);

  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }
  /// In alphabetical order.
  [[nodiscard]] std::vector<std::string> names() const;

  /// The matrix of that name, as float (F32), double (F64) or Index (I64); from other writers, what has one dimension
  /// is a single row and what has none is 1 × 1. Throws InputError if there is none or if its type is another.
  [[nodiscard]] const Matrix<float>& matrix_f(const std::string& name) const;
  [[nodiscard]] const Matrix<double>& matrix_d(const std::string& name) const;
  [[nodiscard]] const Matrix<Index>& matrix_i(const std::string& name) const;

  /// Replaces the file as a whole, see write_file. Throws InputError if a name or text is not UTF-8.
  void save(const std::string& path) const;
  /// Throws InputError when it is not a safetensors file, is cut short or contradicts itself. Nothing a file says is
  /// trusted before it has been checked against the size of the file.
  static TensorFile load(const std::string& path);

 private:
  using Tensor = std::variant<Matrix<float>, Matrix<double>, Matrix<Index>>;
  template <class S>
  void insert(const std::string& name, ConstMatrixRef<S> values);
  template <class S>
  const Matrix<S>& get(const std::string& name) const;

  std::map<std::string, Tensor> tensors_;
  std::string path_;  // where it was loaded from, for messages
};

/// All numbers of a buffer under one name, and back. read_values throws InputError for another count of numbers.
template <class S>
void add_values(TensorFile& file, const std::string& name, const Eigen::Ref<const Vector<S>>& values);
template <class S>
void read_values(const TensorFile& file, const std::string& name, Eigen::Ref<Vector<S>> values);

}  // namespace tocca
