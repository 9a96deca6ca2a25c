#include "tocca/data/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "tocca/data/column_moments.h"

namespace tocca {

void Fingerprint::add(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;
  for (const char byte : text) value_ = (value_ ^ static_cast<unsigned char>(byte)) * kPrime;
  value_ = (value_ ^ 0xff) * kPrime;  // "ab", "c" differs from "a", "bc"
}

std::string Fingerprint::text() const { return fmt::format("{:016x}", value_); }

void add_samples(Fingerprint& print, const Dataset& data) {
  for (const std::string& sample : data.views.samples) print.add(sample);
  for (const View& view : data.views.views) print.add_numbers(view.row_of_sample);
  print.add_numbers(data.labels.codes);
  for (const Target& target : data.targets) {
    print.add_numbers(target.labels.codes);
    print.add_numbers(Eigen::Map<const Vector<double>>(target.values.data(), target.values.size()));
  }
  if (!data.groups.empty()) print.add_numbers(data.groups);
}

std::string fingerprint(const Dataset& data, const Context& context) {
  Fingerprint print;
  add_samples(print, data);
  for (const std::string& name : data.labels.classes) print.add(name);
  for (const View& view : data.views.views) {
    print.add(view.name);
    for (const std::string& feature : view.features) print.add(feature);
    std::vector<Index> rows;
    std::copy_if(view.row_of_sample.begin(), view.row_of_sample.end(), std::back_inserter(rows),
                 [](Index row) { return row >= 0; });
    const ColumnMoments moments = column_moments(view.values, rows, context);
    print.add_numbers(moments.count);
    print.add_numbers(moments.mean);
    print.add_numbers(moments.squares);
  }
  return print.text();
}

}  // namespace tocca
