#include "tocca/model/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace tocca {
namespace {

// A layout of two matrices; the second large enough for large pages.
Layout layout() {
  Layout result;
  result.add("small", 3, 5);
  result.add("large", 700, 400);
  return result;
}

Buffer<float> numbered(const Layout& layout) {
  Buffer<float> buffer(layout);
  for (const Slot& slot : layout.slots()) {
    for (Index i = 0; i < slot.size(); ++i) buffer[slot].data()[i] = static_cast<float>(i % 1000);
  }
  return buffer;
}

TEST(Buffer, StartsWithZerosOnBoundariesOfCacheLines) {
  for (Index columns : {0, 1, 300'000}) {
    Layout l;
    l.add("matrix", 1, columns);
    const Buffer<double> buffer(l);
    EXPECT_EQ(buffer.values().size(), l.size());
    EXPECT_TRUE((buffer.values().array() == 0).all());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.values().data()) % 64, 0U);
  }
  EXPECT_EQ(Buffer<float>().values().size(), 0);
}

TEST(Buffer, ACopyIsASnapshot) {
  const Layout l = layout();
  Buffer<float> buffer = numbered(l);
  const Buffer<float> copy = buffer;
  Buffer<float> assigned, same(l);
  assigned = buffer;
  const float* const before = same.values().data();
  same = buffer;
  EXPECT_EQ(same.values().data(), before) << "memory of the right size is kept";
  buffer.values().setConstant(-1);
  for (const Buffer<float>* each : std::initializer_list<const Buffer<float>*>{&copy, &assigned, &same}) {
    EXPECT_EQ(each->values(), numbered(l).values());
  }
  Buffer<float>& itself = same;
  same = itself;
  EXPECT_EQ(same.values(), copy.values());
  assigned = Buffer<float>();
  EXPECT_EQ(assigned.values().size(), 0);
}

TEST(Buffer, MovesItsMemory) {
  const Layout l = layout();
  Buffer<float> buffer = numbered(l);
  const float* const memory = buffer.values().data();
  Buffer<float> moved = std::move(buffer);
  EXPECT_EQ(moved.values().data(), memory);
  EXPECT_EQ(buffer.values().size(), 0);  // NOLINT(bugprone-use-after-move): left without numbers
  Buffer<float> other(l);
  other = std::move(moved);
  EXPECT_EQ(other.values().data(), memory);
  EXPECT_EQ(other.values(), numbered(l).values());
}

}  // namespace
}  // namespace tocca
