#include "tocca/train/input_layers.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "tocca/core/denormals.h"
#include "tocca/ops/nadam.h"

namespace tocca {
namespace {

// What a task does less than the widest view would, in multiplications of a layer's product: less is not worth the
// sections that it takes (docs/performance.md).
constexpr Index kLeast = 500'000;
// And as a share of that view's weights.
constexpr double kLeastShare = 0.05;
// Parts begin at multiples of so many columns: at panels, and what updates work on at a time.
constexpr Index kUnit = 48;
static_assert(kUnit % kPanelColumns<float> == 0 && kUnit % kPanelColumns<double> == 0 && kUnit % kWeightRows == 0);

bool is_worth_sharing(const NetworkShape& shape, Index rows, Index widest, Index even) {
  const Index saved = (widest - even) * shape.hidden_size;
  const Index behind = (shape.hidden_layers - 1) * shape.hidden_size + shape.encoder_outputs();
  const auto weights = static_cast<double>(widest + behind) * static_cast<double>(shape.hidden_size);
  return saved >= kLeast / rows && static_cast<double>(saved) >= kLeastShare * weights;
}

// A place in all views' columns near `ideal`, such that no part is short.
Index cut_near(const std::vector<Index>& inputs, Index ideal) {
  Index before = 0;
  for (const Index columns : inputs) {
    if (ideal >= before + columns) {
      before += columns;
      continue;
    }
    const Index cut = (ideal - before + kUnit / 2) / kUnit * kUnit;
    if (cut < 2 * kUnit) return before;
    return before + (columns - cut < 2 * kUnit ? columns : cut);
  }
  return before;
}

std::vector<InputPart> parts_between(const std::vector<Index>& inputs, Index begin, Index end) {
  std::vector<InputPart> parts;
  Index before = 0;
  for (std::size_t view = 0; view < inputs.size(); ++view) {
    const Index first = std::clamp<Index>(begin - before, 0, inputs[view]);
    const Index last = std::clamp<Index>(end - before, 0, inputs[view]);
    if (last > first) parts.push_back({static_cast<Index>(view), first, last - first});
    before += inputs[view];
  }
  return parts;
}

}  // namespace

std::vector<std::vector<InputPart>> share_inputs(const NetworkShape& shape, Index rows) {
  const auto views = static_cast<Index>(shape.inputs.size());
  if (views < 2 || shape.hidden_layers == 0 || rows == 0) return {};
  const Index all = std::accumulate(shape.inputs.begin(), shape.inputs.end(), Index{0});
  const Index widest = *std::max_element(shape.inputs.begin(), shape.inputs.end());
  if (!is_worth_sharing(shape, rows, widest, all / views)) return {};
  // All views' columns one after the other, cut into as many pieces of about the same length.
  std::vector<std::vector<InputPart>> tasks;
  for (Index t = 0, begin = 0; t < views; ++t) {
    const Index end = t + 1 < views ? cut_near(shape.inputs, all * (t + 1) / views) : all;
    tasks.push_back(parts_between(shape.inputs, begin, end));
    begin = end;
  }
  return tasks;
}

template <class S>
InputLayers<S>::InputLayers(const NetworkShape& shape, Index capacity) : tasks_(share_inputs(shape, capacity)) {
  memory_.reserve(tasks_.size() * static_cast<std::size_t>(BatchPanels<S>::room(capacity, shape.hidden_size)) *
                  sizeof(S));
  for (const auto& parts : tasks_) {
    for (const InputPart& part : parts) {
      if (part.first > 0) sums_.push_back({part, BatchPanels<S>(memory_, capacity, shape.hidden_size)});
    }
  }
}

template <class S>
void InputLayers<S>::each_part(const Context& context, FunctionRef<void(const InputPart&, std::size_t)> work) const {
  context.parallel(static_cast<Index>(tasks_.size()), [&](Index t) {
    const FlushDenormals flush;
    const auto task = static_cast<std::size_t>(t);
    for (const InputPart& part : tasks_[task]) work(part, task);
  });
}

template <class S>
PanelMap<S> InputLayers<S>::target(const InputPart& part, PanelMap<S> product) {
  if (part.first == 0) return product;
  const auto sum = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& s) { return s.part == part; });
  assert(sum != sums_.end());
  return sum->product.top(product.rows());
}

template <class S>
void InputLayers<S>::add_parts(Index view, PanelMap<S> product) {
  for (Sum& sum : sums_) {
    if (sum.part.view == view) add_panels<S>(sum.product.top(product.rows()), product);
  }
}

template class InputLayers<float>;
template class InputLayers<double>;

}  // namespace tocca
