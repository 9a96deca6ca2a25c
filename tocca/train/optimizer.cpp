#include "tocca/train/optimizer.h"

#include <span>

#include "tocca/core/rows.h"

namespace tocca {

template <class S>
Optimizer<S>::Optimizer(Network<S>& network)
    : network_(network), first_moments_(network.parameter_layout), second_moments_(network.parameter_layout) {}

template <class S>
void Optimizer<S>::save(TensorFile& file) const {
  add_values<S>(file, "optimizer.first_moments", first_moments_.values());
  add_values<S>(file, "optimizer.second_moments", second_moments_.values());
  add_values<double>(file, "optimizer.schedule", Vector<double>{{schedule_.step, schedule_.momentum_product}});
}

template <class S>
void Optimizer<S>::load(const TensorFile& file) {
  read_values<S>(file, "optimizer.first_moments", first_moments_.values());
  read_values<S>(file, "optimizer.second_moments", second_moments_.values());
  Vector<double> schedule(2);
  read_values<double>(file, "optimizer.schedule", schedule);
  schedule_ = {schedule(0), schedule(1)};
}

template <class S>
void Optimizer<S>::begin(const NadamOptions& options, double weight_decay) {
  options_ = options;
  coefficients_ = schedule_.next(options);
  weight_decay_ = weight_decay;
}

template <class S>
NadamStep Optimizer<S>::step_of(const Slot& slot) const {
  return {options_, coefficients_, slot.decays ? 2 * weight_decay_ : 0};
}

template <class S>
NadamArrays<S> Optimizer<S>::arrays(const Slot& slot, Index first) {
  const auto at = [&](Buffer<S>& buffer) { return buffer.values().data() + slot.offset + first * slot.columns; };
  return {at(network_.parameters), at(first_moments_), at(second_moments_)};
}

template <class S>
void Optimizer<S>::update(const Slot& slot, Index first, Index rows, const Buffer<S>& gradients) {
  const S* const gradient = gradients.values().data() + slot.offset + first * slot.columns;
  nadam_update(step_of(slot), arrays(slot, first), std::span(gradient, static_cast<std::size_t>(rows * slot.columns)));
}

template <class S>
void Optimizer<S>::update(const WeightRows<S>& rows, PanelMap<S> dx, Workspace& work, const Pieces& pieces) {
  const auto size = [](Index i) { return static_cast<std::size_t>(i); };
  nadam_update(step_of(rows.weight), arrays(rows.weight, rows.first),
               OuterProduct<S>{rows_of<S>(rows.x.matrix()),
                               rows_of<S>(rows.dy.matrix()),
                               size(rows.x.rows()),
                               size(rows.x.cols()),
                               size(rows.dy.cols()),
                               {dx.cols() > 0 ? dx.data() : nullptr, size(dx.stride())}},
               work, pieces);
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace tocca
