#include "tocca/core/workspace.h"

#include <algorithm>
#include <cstring>

namespace tocca {

void Workspace::reserve(std::size_t bytes) {
  constexpr std::size_t kLittle = std::size_t{1} << 16;
  if (bytes > kLittle && chunks_.empty()) add_chunk((bytes + kHugePage - 1) / kHugePage * kHugePage);
}

void Workspace::add_chunk(std::size_t bytes) { chunks_.push_back({allocate_bytes(bytes), bytes}); }

std::byte* Workspace::take(std::size_t bytes) {
  bytes = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    // Small pieces share a chunk; a large one has its own, and nothing is reserved beside it.
    constexpr std::size_t kLeast = std::size_t{1} << 18;
    add_chunk(std::max(bytes, kLeast));
  }
  std::byte* const piece = chunks_[chunk_].memory.get() + used_;
  used_ += bytes;
#ifndef NDEBUG
  std::memset(piece, 0xff, bytes);
#endif
  return piece;
}

}  // namespace tocca
