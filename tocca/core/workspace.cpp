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
    // Little is all that many need; what is more comes in large pages.
    constexpr std::size_t kLittle = std::size_t{1} << 16;
    const bool little = chunks_.empty() && bytes <= kLittle;
    const std::size_t size = little ? kLittle : (bytes + kHugePage - 1) / kHugePage * kHugePage;
    chunks_.push_back({allocate_memory(size), size});
  }
  std::byte* const piece = chunks_[chunk_].memory.get() + used_;
  used_ += bytes;
#ifndef NDEBUG
  std::memset(piece, 0xff, bytes);
#endif
  return piece;
}

}  // namespace tocca
