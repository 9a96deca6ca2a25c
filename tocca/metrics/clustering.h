/// How well clusters agree with known classes. clusters (n): names ≥ 0 of any kind; truth (n): classes ≥ 0, or −1 for a
/// sample without one, which is left out everywhere. What the clusters are called does not matter.
///
/// Sizes that differ, and a cluster below 0 of a sample that counts, throw InputError. Without samples that count the
/// figures are NaN.
#pragma once

#include <span>

namespace tocca {

/// I(clusters; classes) / ½ (H(clusters) + H(classes)), in [0, 1]; 1 if the two are the same partition, also the one
/// with everything in one piece. Chance is above 0, the more so the more clusters there are.
///
/// A. Strehl, J. Ghosh, Cluster ensembles, J. Machine Learning Research 3, 2002. Departure from the paper: it divides
/// by the geometric mean of the entropies; the arithmetic one is scikit-learn's default, and never gives more.
double normalized_mutual_information(std::span<const int> clusters, std::span<const int> truth);

/// The share of pairs of samples on which the two agree (together in both, or apart in both), shifted and scaled such
/// that 1 is the same partition and 0 what random clusters of these sizes give on average; at least −½.
///
/// L. Hubert, P. Arabie, Comparing partitions, J. Classification 2, 1985.
double adjusted_rand_index(std::span<const int> clusters, std::span<const int> truth);

/// The accuracy when each cluster stands for one class, and no class for two clusters, in the best such way. In (0, 1].
/// The samples of clusters beyond the number of classes are wrong.
///
/// Y. Yang, D. Xu, F. Nie, S. Yan, Y. Zhuang, Image clustering using local discriminant models and global integration,
/// IEEE Trans. Image Processing 19, 2010. O((clusters + classes)³).
double clustering_accuracy(std::span<const int> clusters, std::span<const int> truth);

}  // namespace tocca
