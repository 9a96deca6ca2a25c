/// Telling one set of data and settings from another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tocca/core/context.h"
#include "tocca/data/views.h"

namespace tocca {

/// 64 bits of everything that is added (FNV-1a): a guard against mistakes, not against forgery.
class Fingerprint {
 public:
  void add(std::string_view text);
  /// The bytes of the numbers of a vector or matrix.
  template <class Values>
  void add_numbers(const Values& values) {
    add({reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * sizeof(values[0])});
  }
  /// 16 hexadecimal digits.
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// Samples enter by their ids, labels, targets, groups and which row of each view they are.
void add_samples(Fingerprint& print, const Dataset& data);
/// The same and the views: their names, their columns' names, and the columns by count, mean and variation.
std::string fingerprint(const Dataset& data, const Context& context);

}  // namespace tocca
