/// What a model file must hold before anything is done with it: a damaged or hand-made one is told, not believed.
#pragma once

#include <string>

#include "tocca/model/fitted_model.h"
#include "tocca/model/safetensors.h"

namespace tocca::detail {

/// Throws InputError: what, and that the file is damaged.
[[noreturn]] void damaged(const std::string& what);

/// Throws InputError unless the shape is possible and its large parts have the sizes of the file's tensors, so that a
/// file that was tampered with does not make the network larger than what it holds.
void check_shape(const NetworkShape& shape, const TensorFile& file, std::size_t views);

/// Throws InputError, naming the file, where parts of the model contradict each other or a number is not finite.
void check_consistent(const FittedModel& model, const std::string& path);

}  // namespace tocca::detail
