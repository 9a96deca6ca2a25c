/// Matrix aliases used everywhere: rows are samples, storage is row-major, so a C-order NumPy array or a
/// memory-mapped .npy file is a matrix without a copy.
#pragma once

#include <Eigen/Core>

namespace tocca {

using Index = Eigen::Index;

template <class S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class S>
using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <class S>
using RowVector = Eigen::Matrix<S, 1, Eigen::Dynamic>;

/// What a function only looks at. The rows must lie contiguously; the distance between rows is free.
template <class S>
using ConstMatrixRef = const Eigen::Ref<const Matrix<S>>&;
/// What a function writes into; its size is the caller's promise.
template <class S>
using MatrixRef = Eigen::Ref<Matrix<S>>;
template <class S>
using ConstRowRef = const Eigen::Ref<const RowVector<S>>&;
template <class S>
using RowRef = Eigen::Ref<RowVector<S>>;

/// A named piece of a larger buffer seen as a matrix.
template <class S>
using MatrixMap = Eigen::Map<Matrix<S>>;
template <class S>
using ConstMatrixMap = Eigen::Map<const Matrix<S>>;

}  // namespace tocca
