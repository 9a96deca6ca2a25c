/// All numbers of a network in one contiguous buffer, with named matrices in it: saving, snapshots, resuming and
/// copying to a device are then one operation each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tocca/core/huge_pages.h"
#include "tocca/core/matrix.h"

namespace tocca {

/// One named matrix of a buffer.
struct Slot {
  std::string name;
  Index rows = 0;
  Index columns = 0;
  Index offset = 0;
  bool decays = false;  ///< weight decay applies (weight matrices, not biases, scales or shifts)

  [[nodiscard]] Index size() const { return rows * columns; }
};

/// The order and shapes of the named matrices. Each starts on a 64-byte boundary.
class Layout {
 public:
  /// Appends a matrix and returns its number.
  std::size_t add(std::string name, Index rows, Index columns, bool decays = false);
  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }
  [[nodiscard]] const Slot& operator[](std::size_t slot) const { return slots_[slot]; }
  /// Numbers in all, padding included.
  [[nodiscard]] Index size() const { return size_; }

 private:
  std::vector<Slot> slots_;
  Index size_ = 0;
};

/// Numbers arranged by a layout, zero at first. A value: copying it is a snapshot.
template <class S>
class Buffer {
 public:
  Buffer() = default;
  // In large pages, since a step passes over all parameters, gradients and moments.
  explicit Buffer(const Layout& layout) : Buffer(layout.size()) { values().setZero(); }
  ~Buffer() = default;
  Buffer(const Buffer& other) : Buffer(other.size_) { values() = other.values(); }
  Buffer(Buffer&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(const Buffer& other) {
    if (size_ != other.size_) *this = Buffer(other.size_);
    values() = other.values();
    return *this;
  }
  Buffer& operator=(Buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] MatrixMap<S> operator[](const Slot& slot) { return {data() + slot.offset, slot.rows, slot.columns}; }
  [[nodiscard]] ConstMatrixMap<S> operator[](const Slot& slot) const {
    return {data() + slot.offset, slot.rows, slot.columns};
  }
  /// All of them, padding included; a view, valid as long as this is.
  [[nodiscard]] Eigen::Map<Vector<S>> values() { return {data(), size_}; }
  [[nodiscard]] Eigen::Map<const Vector<S>> values() const { return {data(), size_}; }

 private:
  explicit Buffer(Index size) : memory_(allocate_bytes(static_cast<std::size_t>(size) * sizeof(S))), size_(size) {}
  [[nodiscard]] S* data() const { return reinterpret_cast<S*>(memory_.get()); }

  OwnedBytes memory_;
  Index size_ = 0;
};

}  // namespace tocca
