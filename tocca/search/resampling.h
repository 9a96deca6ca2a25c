/// How samples are cut into parts to learn from and parts to score on.
#pragma once

#include <string>
#include <vector>

#include "tocca/core/rng.h"
#include "tocca/data/splits.h"

namespace tocca {

struct Resampling {
  Index folds = 0;        ///< k-fold cross-validation, k ≥ 2; 0: random splits
  Index repeats = 1;      ///< how often all folds, or one random split, are drawn; ≥ 1
  double held_out = 0.2;  ///< share of a random split that is scored on

  /// How many splits it makes.
  [[nodiscard]] Index count() const { return repeats * (folds > 0 ? folds : 1); }
  /// "5-fold cross-validation, 2 times", "3 random splits, 0.2 held out".
  [[nodiscard]] std::string text() const;
};

/// Splits of the samples of `data`, each class (see `strata`) spread evenly; where it has groups, as evenly as these
/// allow. No two repeats are the same. Throws InputError naming the option, its value and what is allowed, also where
/// so many different repeats are not found.
std::vector<Split> resample(const Dataset& data, const Resampling& how, const Rng& rng);

}  // namespace tocca
