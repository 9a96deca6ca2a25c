/// Matrices in panels of columns: how large batches lie while they go through a network.
///
/// A product reads a few rows of its left factor, or a few columns of it transposed, and three vectors of columns of
/// its right one. In a panel all of these are one piece of memory, so that only weights, which lie row by row, need to
/// be packed.
#pragma once

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"

namespace tocca {

/// Columns of a panel: three vectors of AVX-512, six of AVX2.
template <class S>
inline constexpr Index kPanelColumns = 192 / static_cast<Index>(sizeof(S));

/// Batches of up to so many rows lie row by row, larger ones in panels.
inline constexpr Index kSmallBatch = 128;
inline constexpr bool lies_in_panels(Index rows) { return rows > kSmallBatch; }

/// Looks at a matrix (m × d) that lies row by row, or in panels: columns 0 ... w − 1 row by row, behind them the next
/// w, and so on. The last panel has room for as many columns as the others; what is there has no meaning. A matrix
/// that lies row by row is one panel. What it looks at must outlive it. T: S or const S.
template <class T>
class PanelMap {
 public:
  using S = std::remove_const_t<T>;
  template <class U>
  using Like = std::conditional_t<std::is_const_v<T>, const U, U>;
  using Strided = Eigen::Map<Like<Matrix<S>>, 0, Eigen::OuterStride<>>;

  /// No columns.
  PanelMap() = default;
  /// Row by row.
  PanelMap(MatrixMap<S> m) : PanelMap(m.data(), m.rows(), m.cols(), m.outerStride()) {}      // NOLINT(*explicit*)
  PanelMap(Like<Matrix<S>>& m) : PanelMap(m.data(), m.rows(), m.cols(), m.outerStride()) {}  // NOLINT(*explicit*)
  PanelMap(Like<Eigen::Ref<Like<Matrix<S>>>>& m)                                             // NOLINT(*explicit*)
      : PanelMap(m.data(), m.rows(), m.cols(), m.outerStride()) {}
  template <class U>
  requires(std::is_same_v<const U, T>)
      PanelMap(const PanelMap<U>& m)  // NOLINT(*explicit*): what may be written may be read
      : data_(m.data_),
        rows_(m.rows_),
        columns_(m.columns_),
        stride_(m.stride_),
        width_(m.width_),
        jump_(m.jump_),
        in_panels_(m.in_panels_) {}

  /// In panels, room(rows, columns) numbers.
  static PanelMap in_panels(T* data, Index rows, Index columns) {
    PanelMap m(data, rows, columns, 0);
    m.width_ = m.stride_ = kPanelColumns<S>;
    m.jump_ = rows * m.width_;
    m.in_panels_ = true;
    return m;
  }
  static Index room(Index rows, Index columns) {
    return rows * ((columns + kPanelColumns<S> - 1) / kPanelColumns<S> * kPanelColumns<S>);
  }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return columns_; }
  [[nodiscard]] bool in_panels() const { return in_panels_; }
  [[nodiscard]] Index width() const { return width_; }    ///< columns of a panel
  [[nodiscard]] Index stride() const { return stride_; }  ///< numbers from a row of a panel to the next
  [[nodiscard]] Index jump() const { return jump_; }      ///< numbers from a panel to the next
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] T* at(Index row, Index column) const {
    return data_ + column / width_ * jump_ + column % width_ + row * stride_;
  }

  [[nodiscard]] PanelMap middle_rows(Index first, Index count) const {
    PanelMap m = *this;
    m.data_ += first * stride_;
    m.rows_ = count;
    return m;
  }
  /// In panels, from a multiple of their width on.
  [[nodiscard]] PanelMap middle_columns(Index first, Index count) const {
    assert(!in_panels_ || first % width_ == 0);
    PanelMap m = *this;
    m.data_ = at(0, first);
    m.columns_ = count;
    if (!in_panels_) m.width_ = std::max<Index>(count, 1);
    return m;
  }
  /// What lies row by row.
  [[nodiscard]] Strided matrix() const {
    assert(!in_panels_);
    return {data_, rows_, columns_, Eigen::OuterStride<>(stride_)};
  }
  /// Calls f(first, count) for columns `begin` to `end`, as many at a time as lie in one panel here and in `other`.
  template <class U, class F>
  void each_panel(Index begin, Index end, const PanelMap<U>& other, F f) const {
    for (Index first = begin, count = 0; first < end; first += count) {
      count = std::min({end - first, width_ - first % width_, other.width() - first % other.width()});
      f(first, count);
    }
  }
  /// `count` columns from `first` on, which lie in one panel.
  [[nodiscard]] Strided part(Index first, Index count) const {
    return {at(0, first), rows_, count, Eigen::OuterStride<>(stride_)};
  }

 private:
  template <class U>
  friend class PanelMap;

  PanelMap(T* data, Index rows, Index columns, Index stride)
      : data_(data),
        rows_(rows),
        columns_(columns),
        stride_(std::max(stride, columns)),
        width_(std::max<Index>(columns, 1)) {}

  T* data_ = nullptr;
  Index rows_ = 0, columns_ = 0, stride_ = 0, width_ = 1, jump_ = 0;
  bool in_panels_ = false;
};

/// to ← from, and to ← to + from, of the same shape.
template <class S>
void copy_panels(PanelMap<const S> from, PanelMap<S> to) {
  assert(from.rows() == to.rows() && from.cols() == to.cols());
  from.each_panel(0, from.cols(), to,
                  [&](Index first, Index count) { to.part(first, count) = from.part(first, count); });
}
template <class S>
void add_panels(PanelMap<const S> from, PanelMap<S> to) {
  assert(from.rows() == to.rows() && from.cols() == to.cols());
  from.each_panel(0, from.cols(), to,
                  [&](Index first, Index count) { to.part(first, count) += from.part(first, count); });
}

/// A place for what a network makes of a batch, in memory that a workspace has handed out: row by row for
/// small batches, in panels for large ones. Copies are the same place.
template <class S>
class BatchPanels {
 public:
  BatchPanels() = default;
  /// For up to `capacity` rows, until the frame or the workspace ends.
  BatchPanels(Workspace& memory, Index capacity, Index columns)
      : data_(memory.array<S>(static_cast<std::size_t>(room(capacity, columns))).data()),
        capacity_(capacity),
        columns_(columns) {}

  /// Numbers that such a place has.
  static Index room(Index capacity, Index columns) {
    return lies_in_panels(capacity) ? PanelMap<S>::room(capacity, columns) : capacity * columns;
  }

  [[nodiscard]] PanelMap<S> top(Index rows) const {
    assert(rows <= capacity_);
    if (lies_in_panels(rows)) return PanelMap<S>::in_panels(data_, rows, columns_);
    return MatrixMap<S>(data_, rows, columns_);
  }

 private:
  S* data_ = nullptr;
  Index capacity_ = 0, columns_ = 0;
};

}  // namespace tocca
