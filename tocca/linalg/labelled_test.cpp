#include "tocca/linalg/labelled.h"

#include <gtest/gtest.h>

#include "tocca/core/error.h"

namespace tocca::detail {
namespace {

TEST(Labelled, KeepsRowsWithALabelAndCountsTheirClasses) {
  const std::vector<int> y{4, -1, 0, 4, -1, 2};
  const LabelledRows labelled = labelled_rows(y);
  EXPECT_EQ(labelled.rows, (std::vector<Index>{0, 2, 3, 5}));
  EXPECT_EQ(labelled.classes, (std::vector<int>{4, 0, 4, 2}));
  EXPECT_EQ(labelled.present, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(labelled.ordinals(), (std::vector<Index>{2, 0, 2, 1}));
  EXPECT_NO_THROW(require_labels("test", 6, y, 5));
  EXPECT_THROW(require_labels("test", 6, y, 4), InputError);
  EXPECT_THROW(require_labels("test", 7, y, 5), InputError);
  EXPECT_THROW(require_labels("test", 1, std::vector<int>{-2}, 5), InputError);
  EXPECT_NO_THROW(require_two_classes("test", labelled));
  EXPECT_THROW(require_two_classes("test", labelled_rows(std::vector<int>{1, -1, 1})), InputError);
}

}  // namespace
}  // namespace tocca::detail
