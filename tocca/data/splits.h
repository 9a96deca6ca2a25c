/// Random splits of samples, from a seeded generator.
#pragma once

#include <vector>

#include "tocca/core/matrix.h"
#include "tocca/core/rng.h"
#include "tocca/data/views.h"

namespace tocca {

struct Split {
  std::vector<Index> train;  ///< ascending
  std::vector<Index> test;   ///< ascending; the held-out part
};

/// What splits spread evenly: the classes, or without any those of the first target that has some, or whether the event
/// of a survival target was seen; empty where there is none of that.
Labels strata(const Dataset& data);

/// Holds out about `fraction` of the samples, in each class (and among the unlabelled) alike; every class with at least
/// two samples keeps one in each part. Labels may be empty (no stratification). 0 < fraction < 1.
Split stratified_split(const Labels& labels, Index samples, double fraction, Rng rng);

/// k folds, each class spread evenly over them; `folds[s]` is the fold of sample s, 0 ... k − 1.
std::vector<int> stratified_folds(const std::vector<int>& codes, int k, Rng rng);

/// The same when several rows belong to one sample: rows of equal `groups` (any numbers) share a fold and a code, so
/// that no sample is on both sides. k is at most the number of groups.
std::vector<int> grouped_folds(const std::vector<int>& codes, const std::vector<Index>& groups, int k, Rng rng);

/// The same when the rows of a group may be of different classes, such as several samples of a patient: groups in order
/// of falling size (equal ones at random), each to the fold where the sum over classes of (share of the class − 1/k)²
/// grows least, of equal ones to the smallest. Unlabelled rows (−1) count as a class. Throws InputError unless k is
/// from 2 to the number of groups.
std::vector<int> group_folds(const std::vector<int>& codes, const std::vector<Index>& groups, int k, Rng rng);

/// Holds out whole groups with about `fraction` of the rows, at least one group and not all: of a few random draws the
/// one that leaves most classes on both sides, and has them most evenly. 0 < fraction < 1; at least two groups.
Split group_split(const std::vector<int>& codes, const std::vector<Index>& groups, double fraction, const Rng& rng);

/// Holds out about `fraction` of the samples of `data`: each class (see `strata`) alike, or whole groups, where it has
/// them. Throws InputError when all samples are of one group.
Split held_out_split(const Dataset& data, double fraction, const Rng& rng);

/// Codes of `strata`, −1 for all where there is none.
std::vector<int> strata_codes(const Dataset& data);

}  // namespace tocca
