#include "tocca/core/huge_pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>

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

}  // namespace tocca
