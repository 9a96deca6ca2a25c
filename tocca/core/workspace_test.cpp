#include "tocca/core/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace tocca {
namespace {

TEST(Workspace, PiecesOfAFrameDoNotOverlapAndAreAligned) {
  Workspace work;
  const Workspace::Frame frame(work);
  std::vector<MatrixMap<double>> pieces;
  // Some larger than a chunk, some empty.
  for (const Index columns : {3, 0, 5000, 1, 400'000, 7}) {
    pieces.push_back(work.matrix<double>(2, columns));
    pieces.back().setConstant(static_cast<double>(pieces.size()));
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces[i].data()) % 64, 0U);
    EXPECT_TRUE((pieces[i].array() == static_cast<double>(i + 1)).all());
  }
}

TEST(Workspace, AFrameGivesBackWhatWasHandedOutSinceItsStart) {
  Workspace work;
  const Workspace::Frame outer(work);
  const MatrixMap<float> kept = work.matrix<float>(1, 10);
  const float* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    const Workspace::Frame inner(work);
    const MatrixMap<float> piece = work.matrix<float>(100, 1000);
    EXPECT_NE(piece.data(), kept.data());
    if (round == 0) first = piece.data();
    EXPECT_EQ(piece.data(), first);
  }
}

// Where a smaller batch leaves room in a chunk, the next large one finds the memory that it had before.
TEST(Workspace, ASmallerRoundInBetweenChangesNothing) {
  for (const std::size_t reserved : {0, 1000, 100'000}) {
    Workspace work;
    work.reserve(reserved);
    std::vector<const double*> large;
    for (const Index rows : {9000, 3, 9000, 120, 9000}) {
      const Workspace::Frame frame(work);
      work.matrix<double>(rows, 20);
      const MatrixMap<double> second = work.matrix<double>(rows, 25);
      if (rows == 9000) large.push_back(second.data());
    }
    EXPECT_EQ(large[1], large[0]);
    EXPECT_EQ(large[2], large[0]);
  }
}

TEST(Workspace, WhatIsReservedBeginsAtALargePage) {
  Workspace work;
  work.reserve(100'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(work.matrix<float>(1, 1).data()) % kHugePage, 0U);
}

TEST(Workspace, MovedItsPiecesStay) {
  Workspace work;
  const MatrixMap<float> piece = work.matrix<float>(300, 1000);
  Workspace moved = std::move(work);
  EXPECT_NE(moved.matrix<float>(1, 1).data(), piece.data());
  Workspace assigned;
  assigned = std::move(moved);
  EXPECT_NE(assigned.matrix<float>(1, 1).data(), piece.data());
  // What was moved from begins anew.
  work.matrix<float>(300, 1000).setZero();   // NOLINT(bugprone-use-after-move)
  moved.matrix<float>(300, 1000).setZero();  // NOLINT(bugprone-use-after-move)
}

TEST(BatchMatrix, IsAPlaceForRows) {
  Workspace memory;
  const BatchMatrix<double> nothing, first(memory, 10, 3), second(memory, 10, 3);
  EXPECT_TRUE(nothing.empty());
  EXPECT_FALSE(first.empty());
  first.top(10).setConstant(1);
  second.top(10).setConstant(2);
  const BatchMatrix<double> same = first;
  same.top(4).setConstant(3);
  EXPECT_EQ(first.top(10).topRows(4), Matrix<double>::Constant(4, 3, 3.0));
  EXPECT_EQ(first.top(10).bottomRows(6), Matrix<double>::Constant(6, 3, 1.0));
  EXPECT_EQ(second.top(10), Matrix<double>::Constant(10, 3, 2.0));
}

TEST(KeptMatrix, KeepsItsMemoryWhenItGetsSmaller) {
  KeptMatrix<float> kept;
  EXPECT_EQ(kept.map().size(), 0);
  const float* const memory = kept.resize(20, 6).data();
  for (const Index rows : {3, 20, 0, 17}) {
    const MatrixMap<float> m = kept.resize(rows, 6);
    EXPECT_EQ(m.data(), memory);
    EXPECT_EQ(m.rows(), rows);
    EXPECT_EQ(std::as_const(kept).map().rows(), rows);
    EXPECT_EQ(m.cols(), 6);
  }
  EXPECT_EQ(kept.resize(21, 6).size(), 126);
}

struct WithDefault {
  int value = 7;
};

TEST(Workspace, ArraysHoldWhatTheirTypeStartsAs) {
  Workspace work;
  for (int round = 0; round < 2; ++round) {
    const Workspace::Frame frame(work);
    const std::span<WithDefault> items = work.array<WithDefault>(5);
    for (WithDefault& item : items) {
      EXPECT_EQ(item.value, 7);
      item.value = 1;
    }
  }
  EXPECT_TRUE(work.array<int>(0).empty());
}

}  // namespace
}  // namespace tocca
