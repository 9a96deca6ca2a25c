/// Memory in large pages.
#pragma once

#include <cstddef>

namespace tocca {

/// Asks the system to back a large piece of memory that nothing has been written to yet with large pages: passing over
/// megabytes then costs fewer look-ups of addresses, which in a virtual machine are dear. Where the system does not
/// know of them, or the piece is small, nothing happens.
void advise_huge_pages(void* memory, std::size_t bytes);

}  // namespace tocca
