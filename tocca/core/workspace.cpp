#include "tocca/core/workspace.h"

#include <algorithm>
#include <cstring>

namespace tocca {

std::byte* Workspace::take(std::size_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    // Small pieces share a chunk; a large one has its own, and nothing is reserved beside it.
    constexpr std::size_t kLeast = std::size_t{1} << 18;
    const std::size_t size = std::max(bytes, kLeast);
    auto* const memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}));
    chunks_.push_back({std::unique_ptr<std::byte, Free>(memory), size});
  }
  std::byte* const piece = chunks_[chunk_].memory.get() + used_;
  used_ += bytes;
#ifndef NDEBUG
  std::memset(piece, 0xff, bytes);
#endif
  return piece;
}

}  // namespace tocca
