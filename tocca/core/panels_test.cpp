#include "tocca/core/panels.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/testing/matchers.h"

namespace tocca {
namespace {

template <class S>
class PanelsTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PanelsTest, Scalars);

// A number tells its place.
template <class S>
Matrix<S> numbered(Index rows, Index columns) {
  return Matrix<S>::NullaryExpr(rows, columns, [](Index i, Index j) { return static_cast<S>(1000 * i + j); });
}

TYPED_TEST(PanelsTest, EveryNumberHasAPlaceOfItsOwn) {
  using S = TypeParam;
  constexpr Index kWidth = kPanelColumns<S>;
  for (const auto& [rows, columns] :
       {std::pair<Index, Index>{3, 1}, {2, kWidth}, {5, kWidth + 1}, {4, 3 * kWidth - 1}}) {
    std::vector<S> memory(static_cast<std::size_t>(PanelMap<S>::room(rows, columns)), S(-1));
    const Matrix<S> m = numbered<S>(rows, columns);
    const auto panels = PanelMap<S>::in_panels(memory.data(), rows, columns);
    copy_panels<S>(m, panels);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        EXPECT_EQ(*panels.at(i, j), m(i, j));
        EXPECT_EQ(panels.at(i, j) - memory.data(), j / kWidth * rows * kWidth + i * kWidth + j % kWidth);
      }
    }
    Matrix<S> back = Matrix<S>::Zero(rows, columns);
    copy_panels<S>(panels, back);
    EXPECT_EQ(back, m);
    add_panels<S>(panels, back);
    EXPECT_EQ(back, 2 * m);
  }
}

TYPED_TEST(PanelsTest, PartsAreTheSameNumbers) {
  using S = TypeParam;
  constexpr Index kWidth = kPanelColumns<S>;
  const Index rows = 7, columns = 2 * kWidth + 5;
  std::vector<S> memory(static_cast<std::size_t>(PanelMap<S>::room(rows, columns)));
  Matrix<S> m = numbered<S>(rows, columns);
  const auto panels = PanelMap<S>::in_panels(memory.data(), rows, columns);
  copy_panels<S>(m, panels);
  for (const PanelMap<const S> whole : {PanelMap<const S>(panels), PanelMap<const S>(m)}) {
    const PanelMap<const S> some = whole.middle_rows(2, 3).middle_columns(kWidth, kWidth + 2);
    Matrix<S> got(3, kWidth + 2);
    copy_panels<S>(some, got);
    EXPECT_EQ(got, m.block(2, kWidth, 3, kWidth + 2));
    Index seen = 0;
    whole.each_panel(3, columns - 1, whole, [&](Index first, Index count) {
      EXPECT_EQ(first, 3 + seen);
      EXPECT_EQ(whole.part(first, count), m.middleCols(first, count));
      seen += count;
    });
    EXPECT_EQ(seen, columns - 4);
  }
}

TEST(BatchPanels, LargeBatchesLieInPanelsAndSmallOnesRowByRow) {
  Workspace memory;
  const BatchPanels<float> place(memory, 200, 50), behind(memory, 200, 50);
  EXPECT_EQ(BatchPanels<float>::room(200, 50), 200 * 96);
  EXPECT_EQ(BatchPanels<float>::room(kSmallBatch, 50), kSmallBatch * 50);
  for (const Index rows : {Index{200}, kSmallBatch + 1, kSmallBatch, Index{1}}) {
    EXPECT_EQ(place.top(rows).in_panels(), rows > kSmallBatch);
    Matrix<float> zeros = Matrix<float>::Zero(rows, 50), got(rows, 50);
    const Matrix<float> m = numbered<float>(rows, 50);
    copy_panels<float>(zeros, behind.top(rows));
    copy_panels<float>(m, place.top(rows));
    copy_panels<float>(behind.top(rows), got);
    EXPECT_EQ(got, zeros);
    copy_panels<float>(place.top(rows), got);
    EXPECT_EQ(got, m);
  }
}

}  // namespace
}  // namespace tocca
