/// Memory in large pages.
#pragma once

#include <cstddef>
#include <memory>

namespace tocca {

/// Asks the system to back a large piece of memory that nothing has been written to yet with large pages: passing over
/// megabytes then costs fewer look-ups of addresses, which in a virtual machine are dear. Where the system does not
/// know of them, or the piece is small, nothing happens.
void advise_huge_pages(void* memory, std::size_t bytes);

/// Bytes of a cache line, and of a large page (of x86-64; others' are a multiple or a divisor).
inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

struct FreeBytes {
  void operator()(std::byte* memory) const;
};
/// Memory of allocate_bytes(), freed with it.
using OwnedBytes = std::unique_ptr<std::byte, FreeBytes>;

/// Memory of at least so many bytes that begins at a boundary of cache lines, with whatever was there before. From a
/// quarter of a large page on it has large pages of its own.
OwnedBytes allocate_bytes(std::size_t bytes);

}  // namespace tocca
