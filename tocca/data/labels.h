/// Class labels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// Class labels of n samples.
struct Labels {
  std::vector<int> codes;            ///< (n) class number, or −1: unlabelled
  std::vector<std::string> classes;  ///< (C) class names; numbers in numeric order, words in alphabetical order

  [[nodiscard]] Index size() const { return static_cast<Index>(codes.size()); }
  [[nodiscard]] Index class_count() const { return static_cast<Index>(classes.size()); }
  [[nodiscard]] Index labelled() const;
  [[nodiscard]] Labels select(std::span<const Index> chosen) const;
};

/// Labels from text: an empty cell, `NA`, `nan` (in any case) or `-1` means unlabelled. Classes that all read as
/// numbers are ordered as numbers and named by the shortest text of the number ("1", "1.0" and "01" are the class
/// "1"), others alphabetically. Spaces at either end don't count.
Labels make_labels(std::span<const std::string> text);
/// The same text read against known classes; where all of these are numbers, labels are compared as numbers. Throws
/// InputError naming the first label that is none of them.
Labels make_labels(std::span<const std::string> text, const std::vector<std::string>& classes);

}  // namespace tocca
