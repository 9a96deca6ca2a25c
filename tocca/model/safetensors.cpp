#include "tocca/model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <utility>

#include "tocca/core/error.h"
#include "tocca/core/file.h"
#include "tocca/core/text.h"

namespace tocca {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the numbers are written as they lie in memory");

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the limit of the format's own implementation

template <class S>
constexpr std::string_view kType;
template <>
constexpr std::string_view kType<float> = "F32";
template <>
constexpr std::string_view kType<double> = "F64";
template <>
constexpr std::string_view kType<Index> = "I64";

std::size_t size_of(std::string_view type) { return type == "F32" ? 4 : type == "F64" || type == "I64" ? 8 : 0; }

// Whether a tensor of that shape takes that many bytes. Divides rather than multiplies, since the product of hostile
// dimensions overflows.
bool takes(const std::vector<std::uint64_t>& shape, std::size_t width, std::uint64_t bytes) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  if (std::ranges::any_of(shape, [](std::uint64_t size) { return size > kLargest; })) return false;
  if (std::ranges::count(shape, 0U) > 0) return bytes == 0;
  if (bytes % width != 0) return false;
  std::uint64_t left = bytes / width;
  for (const std::uint64_t size : shape) {
    if (left % size != 0) return false;
    left /= size;
  }
  return left == 1;
}

// What the header says of one tensor.
struct Entry {
  std::string name;
  std::string type = {};
  Index rows = 1;
  Index columns = 1;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Reading, with everything that is said about a file's faults.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), content_(read_file(path)) {}

  Json header() {
    const std::string_view content = content_;
    if (content.size() < kLengthBytes) {
      fail("not a model file: got " + std::to_string(content.size()) + " bytes, need at least 8");
    }
    std::uint64_t length = 0;
    std::memcpy(&length, content.data(), kLengthBytes);
    if (length > kLongestHeader) {
      fail("not a model file: it would have a header of " + std::to_string(length) + " bytes");
    }
    const std::string_view rest = content.substr(kLengthBytes);
    if (length > rest.size()) cut_short("header", length, rest.size());
    data_ = rest.substr(length);
    Json json = Json::parse(rest.substr(0, length), nullptr, false);
    if (!json.is_object()) fail("not a model file: its header is not a JSON object");
    return json;
  }

  std::map<std::string, std::string> metadata(const Json& header) const {
    std::map<std::string, std::string> texts;
    const auto found = header.find(kMetadata);
    if (found == header.end()) return texts;
    if (!found->is_object()) fail("damaged header: __metadata__ is not an object");
    for (const auto& [key, value] : found->items()) {
      if (!value.is_string()) fail("damaged header: __metadata__ entry '" + key + "' is not a text");
      texts.emplace(key, value.get<std::string>());
    }
    return texts;
  }

  Entry entry(const std::string& name, const Json& json) const {
    const auto dtype = json.find("dtype");
    if (!json.is_object() || dtype == json.end() || !dtype->is_string()) fail_tensor(name, "it has no dtype");
    Entry entry{.name = name, .type = dtype->get<std::string>()};
    if (size_of(entry.type) == 0) {
      fail_tensor(name, "unknown dtype " + entry.type + ", need F32, F64 or I64");
    }
    const std::vector<std::uint64_t> shape = numbers(name, json, "shape");
    if (shape.size() > 2) {
      fail_tensor(name, "got a shape of " + std::to_string(shape.size()) + " dimensions, need at most 2");
    }
    const std::vector<std::uint64_t> offsets = numbers(name, json, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) fail_tensor(name, "its data_offsets are not begin and end");
    entry.begin = offsets[0];
    entry.end = offsets[1];
    if (!takes(shape, size_of(entry.type), entry.end - entry.begin)) {
      fail_tensor(name, "its shape " + json.at("shape").dump() + " of " + entry.type + " does not take the " +
                            std::to_string(entry.end - entry.begin) + " bytes it has");
    }
    if (!shape.empty()) entry.columns = static_cast<Index>(shape.back());
    if (shape.size() == 2) entry.rows = static_cast<Index>(shape.front());
    return entry;
  }

  // The tensors must fill the data exactly, without gap or overlap.
  void check_layout(std::vector<Entry> entries) const {
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
    const Entry start{.name = "the header"};
    const Entry* last = &start;
    for (const Entry& entry : entries) {
      if (entry.begin < last->end)
        fail("damaged header: tensors '" + last->name + "' and '" + entry.name + "' overlap");
      if (entry.begin > last->end) {
        fail("damaged header: " + std::to_string(entry.begin - last->end) + " bytes before tensor '" + entry.name +
             "' belong to nothing");
      }
      last = &entry;
    }
    if (last->end > data_.size()) cut_short("data", last->end, data_.size());
    if (last->end < data_.size()) {
      fail("damaged: " + std::to_string(data_.size() - last->end) + " bytes at its end belong to no tensor");
    }
  }

  template <class S>
  Matrix<S> values(const Entry& entry) const {
    Matrix<S> matrix(entry.rows, entry.columns);
    const std::string_view bytes = data_.substr(entry.begin, entry.end - entry.begin);
    if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
    return matrix;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError("load model", path_ + ": " + what); }
  [[noreturn]] void fail_tensor(const std::string& name, const std::string& what) const {
    fail("damaged header: tensor '" + name + "': " + what);
  }
  [[noreturn]] void cut_short(const std::string& part, std::uint64_t expected, std::uint64_t found) const {
    fail("cut short: got " + std::to_string(found) + " bytes of " + part + ", need " + std::to_string(expected) +
         "; copy the file again");
  }

  std::vector<std::uint64_t> numbers(const std::string& name, const Json& json, const char* key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array()) fail_tensor(name, std::string("it has no ") + key);
    std::vector<std::uint64_t> list;
    for (const Json& item : *found) {
      if (!item.is_number_unsigned()) fail_tensor(name, std::string(key) + ": got " + item.dump() + ", need counts");
      list.push_back(item.get<std::uint64_t>());
    }
    return list;
  }

  std::string path_;
  std::string content_;
  std::string_view data_;
};

template <class S>
std::span<const char> bytes_of(const Matrix<S>& matrix) {
  return {reinterpret_cast<const char*>(matrix.data()), static_cast<std::size_t>(matrix.size()) * sizeof(S)};
}

Json describe(std::string_view type, Index rows, Index columns, std::uint64_t begin, std::uint64_t size) {
  return {{"dtype", type}, {"shape", {rows, columns}}, {"data_offsets", {begin, begin + size}}};
}

// Spaces at the end let the data begin at a multiple of 8 bytes, as a reader that maps the file wants it.
std::string text_of(const Json& header, const std::string& path) {
  try {
    std::string text = header.dump();
    text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
    return text;
  } catch (const Json::type_error&) {
    throw InputError("save model", path + ": a name or text in the model is not UTF-8; convert it");
  }
}

}  // namespace

template <class S>
void TensorFile::insert(const std::string& name, ConstMatrixRef<S> values) {
  if (name == kMetadata) throw InputError("model file", "tensor name '" + name + "' is reserved; choose another");
  if (!tensors_.emplace(name, Matrix<S>(values)).second) {
    throw InputError("model file", "there is already a tensor '" + name + "'; choose another name");
  }
}

void TensorFile::add(const std::string& name, ConstMatrixRef<float> values) { insert<float>(name, values); }
void TensorFile::add(const std::string& name, ConstMatrixRef<double> values) { insert<double>(name, values); }
void TensorFile::add(const std::string& name, ConstMatrixRef<Index> values) { insert<Index>(name, values); }

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> list;
  for (const auto& [name, tensor] : tensors_) list.push_back(name);
  return list;
}

template <class S>
const Matrix<S>& TensorFile::get(const std::string& name) const {
  const std::string subject = path_.empty() ? "" : path_ + ": ";
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw InputError("load model", subject + unknown_name("tensor", name, names()));
  if (const auto* matrix = std::get_if<Matrix<S>>(&found->second)) return *matrix;
  const auto type = std::visit([]<class T>(const Matrix<T>&) { return kType<T>; }, found->second);
  throw InputError("load model", subject + "tensor '" + name + "': got dtype " + std::string(type) + ", need " +
                                     std::string(kType<S>));
}

const Matrix<float>& TensorFile::matrix_f(const std::string& name) const { return get<float>(name); }
const Matrix<double>& TensorFile::matrix_d(const std::string& name) const { return get<double>(name); }
const Matrix<Index>& TensorFile::matrix_i(const std::string& name) const { return get<Index>(name); }

void TensorFile::save(const std::string& path) const {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  std::vector<std::span<const char>> data;
  std::uint64_t offset = 0;
  // Numbers of 8 bytes first, so that each tensor is aligned to its type.
  for (const std::size_t width : {8U, 4U}) {
    for (const auto& [name, tensor] : tensors_) {
      const auto append = [&, &key = name]<class S>(const Matrix<S>& matrix) {
        if (sizeof(S) != width) return;
        data.push_back(bytes_of(matrix));
        header[key] = describe(kType<S>, matrix.rows(), matrix.cols(), offset, data.back().size());
        offset += data.back().size();
      };
      std::visit(append, tensor);
    }
  }
  const std::string text = text_of(header, path);
  write_file(path, [&](std::ostream& out) {
    const std::uint64_t length = text.size();
    out.write(reinterpret_cast<const char*>(&length), kLengthBytes);
    out << text;
    for (const auto bytes : data) out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
}

TensorFile TensorFile::load(const std::string& path) {
  Reader reader(path);
  const Json header = reader.header();
  TensorFile file;
  file.path_ = path;
  file.metadata = reader.metadata(header);
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name != kMetadata) entries.push_back(reader.entry(name, json));
  }
  reader.check_layout(entries);
  for (const Entry& entry : entries) {
    if (entry.type == "F32") file.tensors_.emplace(entry.name, reader.values<float>(entry));
    if (entry.type == "F64") file.tensors_.emplace(entry.name, reader.values<double>(entry));
    if (entry.type == "I64") file.tensors_.emplace(entry.name, reader.values<Index>(entry));
  }
  return file;
}

namespace {

const Matrix<float>& stored(const TensorFile& file, const std::string& name, float) { return file.matrix_f(name); }
const Matrix<double>& stored(const TensorFile& file, const std::string& name, double) { return file.matrix_d(name); }

}  // namespace

template <class S>
void add_values(TensorFile& file, const std::string& name, const Eigen::Ref<const Vector<S>>& values) {
  file.add(name, Matrix<S>(values.transpose()));
}

template <class S>
void read_values(const TensorFile& file, const std::string& name, Eigen::Ref<Vector<S>> values) {
  const Matrix<S>& numbers = stored(file, name, S());
  if (numbers.size() != values.size()) {
    throw InputError("load", "tensor '" + name + "': got " + std::to_string(numbers.size()) + " numbers, need " +
                                 std::to_string(values.size()) + "; the file is damaged");
  }
  values = Eigen::Map<const Vector<S>>(numbers.data(), numbers.size());
}

template void add_values<float>(TensorFile&, const std::string&, const Eigen::Ref<const Vector<float>>&);
template void add_values<double>(TensorFile&, const std::string&, const Eigen::Ref<const Vector<double>>&);
template void read_values<float>(const TensorFile&, const std::string&, Eigen::Ref<Vector<float>>);
template void read_values<double>(const TensorFile&, const std::string&, Eigen::Ref<Vector<double>>);

}  // namespace tocca
