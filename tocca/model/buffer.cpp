#include "tocca/model/buffer.h"

#include <algorithm>

#include "tocca/core/error.h"

namespace tocca {

std::size_t Layout::add(std::string name, Index rows, Index columns, bool decays) {
  constexpr Index kAlignment = 16;  // numbers: 64 bytes of float
  slots_.push_back({std::move(name), rows, columns, size_, decays});
  size_ += (rows * columns + kAlignment - 1) / kAlignment * kAlignment;
  return slots_.size() - 1;
}

const Slot& Layout::named(std::string_view name) const {
  const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.name == name; });
  if (found == slots_.end()) throw Error("network", "no parameter or statistic is called '" + std::string(name) + "'");
  return *found;
}

Index Layout::count() const {
  Index total = 0;
  for (const Slot& slot : slots_) total += slot.size();
  return total;
}

}  // namespace tocca
