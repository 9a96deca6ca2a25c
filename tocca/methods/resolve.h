/// From a row of the table of methods and the options to the recipe that is fitted.
#pragma once

#include <vector>

#include "tocca/methods/methods.h"
#include "tocca/methods/tasks.h"

namespace tocca {

/// A method with the parts that options.projection, agreement, decorrelation, pretraining and task put in place of its
/// own. `views`: of the data. Throws InputError saying why parts do not go together, or that a method has no such part.
Method resolve(const Options& options, Index views);

/// How many views a method sees: one where options fuse them.
Index views_of(const Options& options, const Dataset& data);

/// Numbers of a text such as "1,0.5", by the option it stands in. Throws InputError for what is not a number from
/// `least` on.
std::vector<double> parse_numbers(std::string_view option, std::string_view text, double least);

}  // namespace tocca
