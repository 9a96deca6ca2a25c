#include "tocca/core/huge_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace tocca {
namespace {

TEST(AllocateBytes, BeginsAtALineOrWhereItIsLargeAtALargePage) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kHugePage / 4 - 1, kHugePage / 4,
                                  kHugePage, 3 * kHugePage + 5}) {
    const OwnedBytes memory = allocate_bytes(bytes);
    ASSERT_NE(memory, nullptr);
    std::memset(memory.get(), 1, bytes);
    const std::size_t boundary = bytes >= kHugePage / 4 ? kHugePage : kCacheLine;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % boundary, 0U) << bytes;
  }
}

}  // namespace
}  // namespace tocca
