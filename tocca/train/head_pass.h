/// The heads of one view: outputs, losses and their gradients, with every buffer they need.
#pragma once

#include <vector>

#include "tocca/core/workspace.h"
#include "tocca/model/network.h"
#include "tocca/train/batch.h"
#include "tocca/train/objective.h"
#include "tocca/train/view_pass.h"

namespace tocca {

template <class S>
class HeadPass {
 public:
  HeadPass(const NetworkShape& shape, Index view);

  /// The heads' losses on the batch, weighted as in the objective. Their gradient with respect to Z goes to pass.dz(),
  /// those of the heads' parameters are kept.
  double losses(const Network<S>& network, const Objective& objective, const Batch& batch, ViewPass<S>& pass);
  /// As after losses() of a batch without the view.
  void clear();
  /// Puts the kept gradients in their places, or adds them where the views before have put theirs.
  void collect(const Network<S>& network, Buffer<S>& gradients) const;

 private:
  struct Gradient {
    Matrix<S> weight;
    RowVector<S> bias;
  };

  double loss_of(std::size_t head, const Objective& objective, const Batch& batch, ViewPass<S>& pass);

  std::vector<HeadShape> heads_;
  Index view_;
  std::vector<Gradient> gradients_;
  Workspace work_;
};

}  // namespace tocca
