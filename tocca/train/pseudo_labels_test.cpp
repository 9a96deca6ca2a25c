#include "tocca/train/pseudo_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tocca/core/error.h"
#include "tocca/testing/error_message.h"
#include "tocca/testing/two_views.h"
#include "tocca/train/test_training_data.h"

namespace tocca {
namespace {

using ::testing::HasSubstr;
using tocca::testing::error_message;
using tocca::testing::make_shared;
using tocca::testing::unstandardized;

Network<float> fresh(Projection projection) {
  Network<float> network(
      {.inputs = {8, 6}, .hidden_layers = 1, .hidden_size = 16, .components = 4, .projection = projection});
  network.initialize(Rng(1));
  return network;
}

// A transform that no batch has set yet maps everything to one point.
TEST(PseudoLabels, AreUsableBeforeTheFirstBatch) {
  const Dataset data = make_shared(200, 3, 0.3, 1);
  const TrainingData training = unstandardized(data);
  for (const Projection projection : {Projection::identity, Projection::whiten, Projection::cca}) {
    PseudoLabels clusters(training, 4);
    clusters.renew(fresh(projection), Rng(3), {});
    for (int c = 0; c < 4; ++c) {
      const auto& codes = clusters.data().labels.codes;
      EXPECT_GT(std::count(codes.begin(), codes.end(), c), 10) << static_cast<int>(projection);
    }
  }
}

TEST(PseudoLabels, KeepTheirNumbersWhenFoundAgain) {
  const Dataset data = make_shared(200, 3, 0.3, 1);
  const TrainingData training = unstandardized(data);
  PseudoLabels clusters(training, 4);
  const Network<float> network = fresh(Projection::identity);
  clusters.renew(network, Rng(3), {});
  const std::vector<int> before = clusters.data().labels.codes;
  for (std::uint64_t again = 0; again < 3; ++again) {
    clusters.renew(network, Rng(again), {});
    const auto& codes = clusters.data().labels.codes;
    int same = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) same += codes[i] == before[i] ? 1 : 0;
    EXPECT_GT(same, 100);  // 50 by chance
  }
}

TEST(PseudoLabels, NeedAsManySamplesAsClusters) {
  const Dataset data = make_shared(5, 3, 0.3, 1);
  const TrainingData training = unstandardized(data);
  EXPECT_THAT(error_message<InputError>([&] { PseudoLabels(training, 6); }), HasSubstr("got 6 for 5 training samples"));
}

TEST(PseudoLabels, WithoutClustersTheLabelsStay) {
  const Dataset data = make_shared(20, 3, 0.3, 1);
  const TrainingData training = unstandardized(data);
  EXPECT_EQ(&PseudoLabels(training, 0).data(), &data);
}

}  // namespace
}  // namespace tocca
