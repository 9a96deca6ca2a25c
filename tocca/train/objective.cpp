#include "tocca/train/objective.h"

#include "tocca/core/error.h"

namespace tocca {

void Objective::validate(const NetworkShape& shape) const {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw InputError("objective", what);
  };
  const bool two_views = shape.inputs.size() >= 2;
  require(task != Task::heads || !shape.heads.empty(), "task heads: got a network without a head, need one");
  require(head_weights.empty() || head_weights.size() == shape.heads.size(),
          "head_weights: got another number than the network has heads, need one each, or none");
  require(head_options.empty() || head_options.size() == shape.heads.size(),
          "head_options: got another number than the network has heads, need one each, or none");
  require(agreement != Agreement::trace_norm || (two_views && shape.keeps_pairs()),
          "agreement trace norm: got a network that keeps no pairs, need two views and `paired`");
  require(task != Task::ranking || (two_views && shape.keeps_pairs()),
          "task ranking: got a network that keeps no pairs, need two views and `paired`");
  require(!skip_cca_layer || (task == Task::none && agreement != Agreement::l2),
          "skipped CCA layer: got a loss of Z, need losses of A alone");
}

}  // namespace tocca
