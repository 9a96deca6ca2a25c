/// All numbers of a network in one contiguous buffer, with named matrices in it: saving, snapshots, resuming and
/// copying to a device are then one operation each.
#pragma once

#include <string>
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
  explicit Buffer(const Layout& layout) : values_(layout.size()) {
    // A step passes over all parameters, gradients and moments.
    advise_huge_pages(values_.data(), static_cast<std::size_t>(values_.size()) * sizeof(S));
    values_.setZero();
  }

  [[nodiscard]] MatrixMap<S> operator[](const Slot& slot) {
    return {values_.data() + slot.offset, slot.rows, slot.columns};
  }
  [[nodiscard]] ConstMatrixMap<S> operator[](const Slot& slot) const {
    return {values_.data() + slot.offset, slot.rows, slot.columns};
  }
  [[nodiscard]] Vector<S>& values() { return values_; }
  [[nodiscard]] const Vector<S>& values() const { return values_; }

 private:
  Vector<S> values_;
};

}  // namespace tocca
