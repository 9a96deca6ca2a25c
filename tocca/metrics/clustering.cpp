#include "tocca/metrics/clustering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tocca/core/error.h"
#include "tocca/core/matrix.h"
#include "tocca/linalg/assignment.h"
#include "tocca/metrics/checks.h"

namespace tocca {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// How many samples each cluster has, each class, and each of both together.
struct Contingency {
  double samples = 0;
  std::map<int, double> clusters, classes;
  std::map<std::pair<int, int>, double> both;
};

Contingency count(const char* where, std::span<const int> clusters, std::span<const int> truth) {
  detail::require_one_for_each(where, "clusters", clusters.size(), "true label", truth.size());
  Contingency table;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    if (clusters[i] < 0)
      throw InputError(where, fmt::format("cluster of sample {} (counted from 0): got {}, need 0 or more; give it one, "
                                          "or mark its true label as missing (-1)",
                                          i, clusters[i]));
    ++table.samples;
    ++table.clusters[clusters[i]];
    ++table.classes[truth[i]];
    ++table.both[{clusters[i], truth[i]}];
  }
  return table;
}

/// Entropy of the shares of the pieces, in nats.
template <class Counts>
double entropy(const Counts& counts, double samples) {
  double sum = 0;
  for (const auto& [name, members] : counts) sum -= members / samples * std::log(members / samples);
  return sum;
}

/// Number of pairs of samples that lie in the same piece.
template <class Counts>
double pairs_within(const Counts& counts) {
  double pairs = 0;
  for (const auto& [name, members] : counts) pairs += members * (members - 1) / 2;
  return pairs;
}

/// Every piece of the two partitions is a piece of the other.
bool same_partition(const Contingency& table) {
  return table.both.size() == table.clusters.size() && table.both.size() == table.classes.size();
}

}  // namespace

double normalized_mutual_information(std::span<const int> clusters, std::span<const int> truth) {
  const Contingency table = count("normalized_mutual_information", clusters, truth);
  if (table.samples == 0) return kNaN;
  if (same_partition(table)) return 1;
  double information = 0;  // summed pair by pair, which is exactly 0 where one side has a single piece
  for (const auto& [names, members] : table.both) {
    const double expected = table.clusters.at(names.first) * table.classes.at(names.second) / table.samples;
    information += members / table.samples * std::log(members / expected);
  }
  const double mean = (entropy(table.clusters, table.samples) + entropy(table.classes, table.samples)) / 2;
  return std::max(0.0, information) / mean;
}

double adjusted_rand_index(std::span<const int> clusters, std::span<const int> truth) {
  const Contingency table = count("adjusted_rand_index", clusters, truth);
  if (table.samples == 0) return kNaN;
  if (same_partition(table)) return 1;
  const double in_clusters = pairs_within(table.clusters), in_classes = pairs_within(table.classes);
  const double expected = in_clusters * in_classes / (table.samples * (table.samples - 1) / 2);
  return (pairs_within(table.both) - expected) / ((in_clusters + in_classes) / 2 - expected);
}

double clustering_accuracy(std::span<const int> clusters, std::span<const int> truth) {
  const Contingency table = count("clustering_accuracy", clusters, truth);
  if (table.samples == 0) return kNaN;
  std::map<int, Index> row, column;
  for (const auto& [name, members] : table.clusters) row.emplace(name, static_cast<Index>(row.size()));
  for (const auto& [name, members] : table.classes) column.emplace(name, static_cast<Index>(column.size()));
  Matrix<double> agreement = Matrix<double>::Zero(static_cast<Index>(row.size()), static_cast<Index>(column.size()));
  for (const auto& [names, members] : table.both) agreement(row.at(names.first), column.at(names.second)) = members;
  const std::vector<Index> class_of = minimum_cost_assignment(-agreement);
  double right = 0;
  for (Index i = 0; i < agreement.rows(); ++i)
    if (const Index j = class_of[static_cast<std::size_t>(i)]; j >= 0) right += agreement(i, j);
  return right / table.samples;
}

}  // namespace tocca
