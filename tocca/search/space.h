/// What a search varies: options with ranges or lists of values, and how the settings of a trial are drawn from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tocca/core/matrix.h"
#include "tocca/methods/methods.h"
#include "tocca/methods/options.h"

namespace tocca {

/// One option that is varied.
struct Parameter {
  enum class Kind {
    real,     ///< any number from `low` to `high`
    integer,  ///< any whole number from `low` to `high`, both included
    choice    ///< one of `values`, each equally likely
  };
  std::string option;  ///< a name of option_fields()
  Kind kind = Kind::choice;
  bool logarithmic = false;  ///< the logarithm is uniform, not the number; needs low > 0
  double low = 0;
  double high = 0;
  /// Choice: what there is to choose from. A range: what may come in its place ("or"), such as "0".
  std::vector<std::string> values = {};
  double share = 0;  ///< of a range: how likely one of `values` comes in its place
};

struct SearchSpace {
  NamedTexts options = {};  ///< of every trial
  std::vector<Parameter> parameters = {};

  /// Throws InputError naming the option: unknown, given twice, a range that is empty or holds a value that the option
  /// does not allow, no values to choose from.
  void validate() const;
  /// As a TOML file that `read_space` reads back.
  [[nodiscard]] std::string text() const;
};

/// Whether a space varies the method itself or a part of its recipe, so that options count that the method at hand has
/// no use for.
bool varies_recipe(const SearchSpace& space);

/// What is left of a space for a method with these options: parameters that have no effect on it are taken out.
SearchSpace restrict_space(const SearchSpace& space, const Method& method);

/// Draws the settings of trials. Those of trial t depend on the seed, t and the space alone, and those of one option
/// not on which others there are. A space of lists and whole numbers alone, with at most 100,000 combinations, is gone
/// through without repetition, in the order given when `in_order`, otherwise in random order.
class TrialSampler {
 public:
  TrialSampler(const SearchSpace& space, std::uint64_t seed, bool in_order = false);

  /// How many different trials there are; 0: any number.
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] NamedTexts draw(Index trial) const;
  /// A seed for everything random in a trial.
  [[nodiscard]] std::uint64_t seed_of(Index trial) const;

 private:
  SearchSpace space_;
  std::uint64_t seed_;
  Index size_ = 0;
  std::vector<Index> order_;  // of the combinations
};

}  // namespace tocca
