/// Memory for what lies between in an operation that comes back with every batch.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tocca/core/huge_pages.h"
#include "tocca/core/matrix.h"

namespace tocca {

/// Hands out pieces of memory one behind another, and takes all of a frame back at once. The memory itself is kept, so
/// that an operation allocates only until it has seen its largest batch. Of one thread at a time. Builds with
/// assertions fill what they hand out with NaN, so that what is read before it is written shows.
///
/// Example:
///     const Workspace::Frame frame(work);
///     MatrixMap<double> centred = work.matrix<double>(rows, columns);  // until the frame ends
class Workspace {
 public:
  /// What is handed out during its life is free again when it ends. Frames end in the opposite order of their starts.
  class Frame {
   public:
    explicit Frame(Workspace& work) : work_(work), chunk_(work.chunk_), used_(work.used_) {}
    ~Frame() {
      work_.chunk_ = chunk_;
      work_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Workspace& work_;
    std::size_t chunk_, used_;
  };

  Workspace() = default;
  ~Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  /// What has been handed out stays where it is. No frame may be open.
  Workspace(Workspace&& other) noexcept
      : chunks_(std::move(other.chunks_)),
        chunk_(std::exchange(other.chunk_, 0)),
        used_(std::exchange(other.used_, 0)) {}
  Workspace& operator=(Workspace&& other) noexcept {
    chunks_ = std::exchange(other.chunks_, {});
    chunk_ = std::exchange(other.chunk_, 0);
    used_ = std::exchange(other.used_, 0);
    return *this;
  }

  /// Tells a fresh one that about so many bytes will be in use at a time, often: more than 64 KB then lie in large
  /// pages.
  void reserve(std::size_t bytes);
  /// With whatever was there before.
  template <class S>
  MatrixMap<S> matrix(Index rows, Index columns) {
    return {array<S>(static_cast<std::size_t>(rows * columns)).data(), rows, columns};
  }
  template <class S>
  Eigen::Map<Vector<S>> vector(Index size) {
    return {array<S>(static_cast<std::size_t>(size)).data(), size};
  }
  /// Members start as T says; what it says nothing of has whatever was there before.
  template <class T>
  std::span<T> array(std::size_t size) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= kCacheLine);
    auto* const first = reinterpret_cast<T*>(take(size * sizeof(T)));
    std::uninitialized_default_construct_n(first, size);
    return {first, size};
  }

 private:
  struct Chunk {
    OwnedBytes memory;
    std::size_t size;
  };
  std::byte* take(std::size_t bytes);
  void add_chunk(std::size_t bytes);

  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0, used_ = 0;  // the chunk that is handed out from, and how much of it is in use
};

/// A place for a matrix of as many rows as a batch has, in memory that a workspace has handed out for good. Copies are
/// the same place.
template <class S>
class BatchMatrix {
 public:
  BatchMatrix() = default;
  /// For up to `capacity` rows. Outside of all frames of the workspace, which must outlive it.
  BatchMatrix(Workspace& memory, Index capacity, Index columns)
      : data_(memory.array<S>(static_cast<std::size_t>(capacity * columns)).data()),
        capacity_(capacity),
        columns_(columns) {}

  [[nodiscard]] MatrixMap<S> top(Index rows) const {
    assert(rows <= capacity_);
    return {data_, rows, columns_};
  }
  [[nodiscard]] Index cols() const { return columns_; }
  /// Whether there is no such matrix.
  [[nodiscard]] bool empty() const { return data_ == nullptr; }

 private:
  S* data_ = nullptr;
  Index capacity_ = 0, columns_ = 0;
};

/// A matrix that keeps its memory when it gets smaller, as with the last batch of an epoch. Eigen's own matrices
/// allocate anew with every change of size.
template <class S>
class KeptMatrix {
 public:
  /// With whatever was there before.
  MatrixMap<S> resize(Index rows, Index columns) {
    if (rows * columns > memory_.size()) memory_.resize(rows * columns);
    rows_ = rows;
    columns_ = columns;
    return map();
  }
  [[nodiscard]] MatrixMap<S> map() { return {memory_.data(), rows_, columns_}; }
  [[nodiscard]] ConstMatrixMap<S> map() const { return {memory_.data(), rows_, columns_}; }

 private:
  Vector<S> memory_;
  Index rows_ = 0, columns_ = 0;
};

}  // namespace tocca
