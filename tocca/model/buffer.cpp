#include "tocca/model/buffer.h"

#include <utility>

namespace tocca {

std::size_t Layout::add(std::string name, Index rows, Index columns, bool decays) {
  constexpr Index kAlignment = 16;  // numbers: 64 bytes of float
  slots_.push_back({std::move(name), rows, columns, size_, decays});
  size_ += (rows * columns + kAlignment - 1) / kAlignment * kAlignment;
  return slots_.size() - 1;
}

}  // namespace tocca
