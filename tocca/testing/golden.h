/// Golden values of the numerical building blocks, from tests/data/reference.json (made by tools/make_reference.py, an
/// independent automatic-differentiation program). For the tests of this repository: needs TOCCA_SOURCE_DIR.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/matrix.h"

namespace tocca::testing {

/// The values of one case by name.
///
/// Example:
///     Golden zca("zca");
///     double alpha = zca.number("alpha");
///     for (const Golden& step : zca.list("steps")) whiten(step.matrix("A"));
///
/// Beside Google Test, whose `testing` it hides inside namespace tocca, write `::testing::` for Google Test's.
class Golden {
 public:
  /// From tests/data/FILE, whose cases have names.
  explicit Golden(const std::string& case_name, const std::string& name = "reference.json")
      : values_(file(name).at("cases").at(case_name)) {}
  /// All cases of tests/data/FILE, whose cases are a list.
  static std::vector<Golden> cases(const std::string& name) { return of(file(name)).list("cases"); }

  /// A list of rows.
  [[nodiscard]] Matrix<double> matrix(const std::string& name) const {
    const auto rows = get<std::vector<std::vector<double>>>(name);
    Matrix<double> m(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
    for (Index i = 0; i < m.rows(); ++i)
      m.row(i) = RowVector<double>::Map(rows.at(static_cast<std::size_t>(i)).data(), m.cols());
    return m;
  }
  /// Those named "0", "1", ... in a group.
  [[nodiscard]] std::vector<Matrix<double>> matrices(const std::string& name) const {
    const Golden members = group(name);
    std::vector<Matrix<double>> all;
    while (members.values_.contains(std::to_string(all.size())))
      all.push_back(members.matrix(std::to_string(all.size())));
    return all;
  }
  [[nodiscard]] Vector<double> vector(const std::string& name) const {
    const auto values = get<std::vector<double>>(name);
    return Vector<double>::Map(values.data(), static_cast<Index>(values.size()));
  }
  [[nodiscard]] std::vector<int> integers(const std::string& name) const { return get<std::vector<int>>(name); }
  [[nodiscard]] double number(const std::string& name) const { return get<double>(name); }
  [[nodiscard]] std::string text(const std::string& name) const { return get<std::string>(name); }
  /// Values of any type that JSON knows: lists of lists of integers, for instance.
  template <class T>
  [[nodiscard]] T get(const std::string& name) const {
    return values_.at(name).get<T>();
  }
  /// A named group of values, and the names in it.
  [[nodiscard]] Golden group(const std::string& name) const { return of(values_.at(name)); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_.items()) all.push_back(name);
    return all;
  }
  /// Groups of values, such as the steps of an iteration.
  [[nodiscard]] std::vector<Golden> list(const std::string& name) const {
    std::vector<Golden> items;
    for (const auto& item : values_.at(name)) {
      Golden group;
      group.values_ = item;
      items.push_back(std::move(group));
    }
    return items;
  }

 private:
  Golden() = default;
  static Golden of(nlohmann::json values) {
    Golden golden;
    golden.values_ = std::move(values);
    return golden;
  }

  static nlohmann::json file(const std::string& name) {
    std::ifstream in(TOCCA_SOURCE_DIR "/tests/data/" + name);
    if (!in) throw Error("golden", "tests/data/" + name + ": cannot be read");
    return nlohmann::json::parse(in);
  }

  nlohmann::json values_;
};

}  // namespace tocca::testing
