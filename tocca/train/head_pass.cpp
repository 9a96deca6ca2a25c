#include "tocca/train/head_pass.h"

#include "tocca/ops/dense.h"

namespace tocca {

template <class S>
HeadPass<S>::HeadPass(const NetworkShape& shape, Index view) : heads_(shape.heads), view_(view) {
  for (const HeadShape& head : heads_) {
    gradients_.push_back({Matrix<S>::Zero(shape.components, head.outputs), RowVector<S>::Zero(head.outputs)});
  }
}

// Loss of a head's outputs, which become its gradient. The loss of a mixed row is the mean of those with either's
// targets, weighted by their shares.
template <class S>
double HeadPass<S>::loss_of(std::size_t h, const Objective& objective, const Batch& batch, ViewPass<S>& pass) {
  const HeadShape& head = heads_[h];
  const auto v = static_cast<std::size_t>(view_);
  static const HeadLossOptions kPlain;
  const HeadLossOptions& options = objective.head_options.empty() ? kPlain : objective.head_options[h];
  const KnownTargets own = batch.known(v, head.target);
  const MatrixMap<S> outputs = pass.outputs(h);
  if (batch.partner.empty()) return head_loss<S>(head.kind, own, options, outputs, work_);
  const Workspace::Frame frame(work_);
  MatrixMap<S> other_gradient = work_.matrix<S>(outputs.rows(), outputs.cols());
  other_gradient = outputs;
  const KnownTargets mixed = own.select(batch.partner[v], work_);
  const double share = batch.own_share;
  const double loss = head_loss<S>(head.kind, own, options, outputs, work_);
  const double other = head_loss<S>(head.kind, mixed, options, other_gradient, work_);
  pass.outputs(h) = static_cast<S>(share) * outputs + static_cast<S>(1 - share) * other_gradient;
  return share * loss + (1 - share) * other;
}

template <class S>
double HeadPass<S>::losses(const Network<S>& network, const Objective& objective, const Batch& batch,
                           ViewPass<S>& pass) {
  const auto& p = network.parameters;
  double sum = 0;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const HeadSlots& head = network.head(h, view_);
    Gradient& gradient = gradients_[h];
    dense_forward<S>(pass.z(), p[head.weight], p[head.bias].row(0), pass.outputs(h));
    const double weight = objective.head_weight(h);
    sum += weight * loss_of(h, objective, batch, pass);
    if (weight != 1) pass.outputs(h) *= static_cast<S>(weight);
    dense_backward_weight<S>(pass.z(), pass.outputs(h), gradient.weight, work_);
    dense_backward_bias<S>(pass.outputs(h), gradient.bias);
    dense_backward_input<S>(pass.outputs(h), p[head.weight], h == 0 ? pass.dz() : pass.head_dz());
    if (h > 0) pass.dz() += pass.head_dz();
  }
  return sum;
}

template <class S>
void HeadPass<S>::clear() {
  for (Gradient& gradient : gradients_) {
    gradient.weight.setZero();
    gradient.bias.setZero();
  }
}

template <class S>
void HeadPass<S>::collect(const Network<S>& network, Buffer<S>& gradients) const {
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const HeadSlots& head = network.head(h, view_);
    const Gradient& gradient = gradients_[h];
    if (view_ == 0 || !network.shape.shared_head) {
      gradients[head.weight] = gradient.weight;
      gradients[head.bias] = gradient.bias;
    } else {
      gradients[head.weight] += gradient.weight;
      gradients[head.bias] += gradient.bias;
    }
  }
}

template class HeadPass<float>;
template class HeadPass<double>;

}  // namespace tocca
