#include "tocca/core/huge_pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tocca {

void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kWorthwhile = std::size_t{1} << 20;
  if (bytes < kWorthwhile) return;
  // Whole pages inside of the piece: advice about a neighbour's memory is not ours to give.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  // Only advice: without it everything works, if more slowly, and a caller's error number stays as it was.
  const int before = errno;
  static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
  errno = before;
#endif
}

void FreeBytes::operator()(std::byte* memory) const { std::free(memory); }

OwnedBytes allocate_bytes(std::size_t bytes) {
  const std::size_t page = bytes >= kHugePage / 4 ? kHugePage : kCacheLine;
  bytes = std::max<std::size_t>((bytes + page - 1) / page, 1) * page;
  OwnedBytes memory(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
  if (!memory) throw std::bad_alloc();
  if (page == kHugePage) advise_huge_pages(memory.get(), bytes);
  return memory;
}

}  // namespace tocca
