#include "tocca/metrics/clustering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/rng.h"
#include "tocca/testing/golden.h"

namespace tocca {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Names = std::vector<int>;

struct Figure {
  std::string name;
  double (*of)(std::span<const int> clusters, std::span<const int> truth);
};
const std::vector<Figure> kFigures = {{"normalized_mutual_information", normalized_mutual_information},
                                      {"adjusted_rand_index", adjusted_rand_index},
                                      {"clustering_accuracy", clustering_accuracy}};

TEST(ClusteringMetrics, GoldenValues) {
  const testing::Golden golden("clustering", "metrics_reference.json");
  const Names truth = golden.integers("truth");
  for (const testing::Golden& partition : golden.list("partitions"))
    for (const Figure& figure : kFigures)
      EXPECT_NEAR(figure.of(partition.integers("clusters"), truth), partition.number(figure.name), 1e-13)
          << figure.name;
}

TEST(ClusteringMetrics, ByHand) {
  const Names clusters = {0, 0, 0, 1, 1, 1}, truth = {0, 0, 1, 1, 1, 1};
  // Counts: cluster 0 has 2 and 1, cluster 1 has 0 and 3.
  const double information = (2 * std::log(2.0) + std::log(0.5) + 3 * std::log(1.5)) / 6;
  const double of_clusters = std::log(2.0), of_classes = (2 * std::log(3.0) + 4 * std::log(1.5)) / 6;
  EXPECT_NEAR(normalized_mutual_information(clusters, truth), information / ((of_clusters + of_classes) / 2), 1e-14);
  // Pairs together: 1 + 3 in both, 6 in clusters, 7 in classes, of 15.
  EXPECT_NEAR(adjusted_rand_index(clusters, truth), (4 - 6.0 * 7 / 15) / (6.5 - 6.0 * 7 / 15), 1e-14);
  EXPECT_DOUBLE_EQ(clustering_accuracy(clusters, truth), 5.0 / 6);
  // Every pair that is together in one is apart in the other: the lowest there is.
  EXPECT_DOUBLE_EQ(adjusted_rand_index(Names{0, 0, 1, 1}, Names{0, 1, 0, 1}), -0.5);
}

TEST(ClusteringMetrics, BestAssignmentIsNotGreedy) {
  // Counts 5 4; 4 0: the largest count is not taken.
  Names clusters(9, 0), truth(5, 0);
  truth.resize(9, 1);
  clusters.resize(13, 1);
  truth.resize(13, 0);
  EXPECT_DOUBLE_EQ(clustering_accuracy(clusters, truth), 8.0 / 13);
}

TEST(ClusteringMetrics, NamesDoNotMatter) {
  Rng rng(8);
  Names clusters, renamed, truth;
  for (int i = 0; i < 200; ++i) {
    truth.push_back(static_cast<int>(rng.below(5)) - 1);
    clusters.push_back(rng.below(2) == 0 ? truth.back() + 1 : static_cast<int>(rng.below(6)));
    renamed.push_back(Names{7, 3, 1000, 0, 4, 12}[static_cast<std::size_t>(clusters.back())]);
  }
  for (const Figure& figure : kFigures) {
    EXPECT_NEAR(figure.of(renamed, truth), figure.of(clusters, truth), 1e-14) << figure.name;
    EXPECT_GT(figure.of(clusters, truth), 0.1) << figure.name;
    EXPECT_LT(figure.of(clusters, truth), 0.9) << figure.name;
  }
}

TEST(ClusteringMetrics, SamePartition) {
  for (const Figure& figure : kFigures) {
    EXPECT_EQ(figure.of(Names{4, 4, 2, 9, 2}, Names{0, 0, 1, 2, 1}), 1) << figure.name;
    EXPECT_EQ(figure.of(Names{4, 4, 4}, Names{0, 0, 0}), 1) << figure.name;
    EXPECT_EQ(figure.of(Names{0, 1, 2}, Names{2, 0, 1}), 1) << figure.name;
    EXPECT_EQ(figure.of(Names{3}, Names{0}), 1) << figure.name;
  }
}

TEST(ClusteringMetrics, OnePieceTellsNothing) {
  const Names clusters = {0, 0, 0, 0, 0, 0, 0}, truth = {0, 0, 0, 1, 1, 2, 2};
  EXPECT_EQ(normalized_mutual_information(clusters, truth), 0);
  EXPECT_EQ(adjusted_rand_index(clusters, truth), 0);
  EXPECT_DOUBLE_EQ(clustering_accuracy(clusters, truth), 3.0 / 7);
}

TEST(ClusteringMetrics, RandomClustersAreAtZeroOnAverage) {
  Rng rng(2);
  double sum = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    Names clusters, truth;
    for (int i = 0; i < 50; ++i) {
      clusters.push_back(static_cast<int>(rng.below(4)));
      truth.push_back(static_cast<int>(rng.below(3)));
    }
    sum += adjusted_rand_index(clusters, truth);
  }
  EXPECT_NEAR(sum / 200, 0, 0.01);
}

TEST(ClusteringMetrics, SamplesWithoutAClassAreLeftOut) {
  for (const Figure& figure : kFigures) {
    EXPECT_EQ(figure.of(Names{0, 5, 0, -1, 1, 1}, Names{0, -1, 1, -1, 1, 1}),
              figure.of(Names{0, 0, 1, 1}, Names{0, 1, 1, 1}))
        << figure.name;
    EXPECT_TRUE(std::isnan(figure.of({}, {}))) << figure.name;
    EXPECT_TRUE(std::isnan(figure.of(Names{0, 1}, Names{-1, -1}))) << figure.name;
  }
}

TEST(ClusteringMetrics, RefuseBadInput) {
  for (const Figure& figure : kFigures) {
    EXPECT_THAT(
        [&] {
          figure.of(Names{0}, Names{0, 1});
        },
        ThrowsMessage<InputError>(StrEq("[" + figure.name +
                                        "] number of clusters: got 1, need 2; pass one for "
                                        "each true label")));
    EXPECT_THAT(
        [&] {
          figure.of(Names{0, -1}, Names{0, 1});
        },
        ThrowsMessage<InputError>(StrEq("[" + figure.name +
                                        "] cluster of sample 1 (counted from 0): got -1, "
                                        "need 0 or more; give it one, or mark its true label as missing "
                                        "(-1)")));
  }
}

}  // namespace
}  // namespace tocca
