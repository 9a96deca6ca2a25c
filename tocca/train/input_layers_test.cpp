#include "tocca/train/input_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace tocca {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NetworkShape shape_of(std::vector<Index> inputs, Index hidden_layers = 2, Index hidden_size = 200) {
  return {.inputs = std::move(inputs), .hidden_layers = hidden_layers, .hidden_size = hidden_size, .components = 50};
}

TEST(ShareInputs, GivesPartsOfTheWidestViewToTheOtherTasks) {
  // The breast data of the paper: 281 columns a task, in whole groups.
  EXPECT_THAT(share_inputs(shape_of({512, 50}, 4), 100),
              ElementsAre(ElementsAre(InputPart{0, 0, 288}), ElementsAre(InputPart{0, 288, 224}, InputPart{1, 0, 50})));
  // Whichever view it is.
  EXPECT_THAT(share_inputs(shape_of({50, 512}, 4), 100),
              ElementsAre(ElementsAre(InputPart{0, 0, 50}, InputPart{1, 0, 240}), ElementsAre(InputPart{1, 240, 272})));
}

TEST(ShareInputs, LeavesViewsAloneWhereLittleIsSaved) {
  EXPECT_THAT(share_inputs(shape_of({400, 400}), 100), IsEmpty());
  EXPECT_THAT(share_inputs(shape_of({9000}), 100), IsEmpty());
  EXPECT_THAT(share_inputs(shape_of({900, 100}, 0), 100), IsEmpty()) << "no hidden layer";
  EXPECT_THAT(share_inputs(shape_of({90, 10}), 20), IsEmpty()) << "too little to do";
  EXPECT_THAT(share_inputs(shape_of({273, 112}, 4, 1000), 100), IsEmpty()) << "little beside the layers behind";
  EXPECT_THAT(share_inputs(shape_of({900, 100}), 0), IsEmpty()) << "no rows";
}

// Every column of every view once, in order, none of the parts short unless its view is, and no task more than a
// little above its share.
TEST(ShareInputs, CoversEveryColumnOnceAndEvenly) {
  for (const std::vector<Index>& inputs : {std::vector<Index>{512, 50},
                                           {20'000, 300, 500},
                                           {30, 30, 5000, 30},
                                           {47, 4000, 4001},
                                           {1000, 999, 40},
                                           {3000, 1}}) {
    SCOPED_TRACE(::testing::PrintToString(inputs));
    const auto tasks = share_inputs(shape_of(inputs), 100);
    ASSERT_EQ(tasks.size(), inputs.size());
    const Index all = std::accumulate(inputs.begin(), inputs.end(), Index{0});
    std::map<Index, Index> reached;
    for (const auto& parts : tasks) {
      Index columns = 0;
      for (const InputPart& part : parts) {
        EXPECT_EQ(part.first, reached[part.view]);
        EXPECT_GE(part.count, std::min<Index>(48, inputs[static_cast<std::size_t>(part.view)]));
        reached[part.view] += part.count;
        columns += part.count;
      }
      EXPECT_LE(columns, all / static_cast<Index>(inputs.size()) + 96);
    }
    for (std::size_t v = 0; v < inputs.size(); ++v) EXPECT_EQ(reached[static_cast<Index>(v)], inputs[v]);
  }
}

}  // namespace
}  // namespace tocca
