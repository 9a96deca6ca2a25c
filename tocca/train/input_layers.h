/// The products of views with their first weights, shared out where one view is much wider than others: the layers
/// behind them are of one size, so that otherwise all wait for the widest view.
#pragma once

#include <vector>

#include "tocca/core/context.h"
#include "tocca/core/function_ref.h"
#include "tocca/core/panels.h"
#include "tocca/model/network.h"

namespace tocca {

/// Columns of a view, and as many rows of its first weights.
struct InputPart {
  Index view, first, count;
  bool operator==(const InputPart&) const = default;
};

/// As many tasks as there are views, of about the same number of columns together, each some parts; no tasks where
/// one a view is about as good for batches of up to `rows`. Depends on these alone, so that results do not depend on
/// the number of threads.
std::vector<std::vector<InputPart>> share_inputs(const NetworkShape& shape, Index rows);

template <class S>
class InputLayers {
 public:
  /// For batches of up to `capacity` rows.
  InputLayers(const NetworkShape& shape, Index capacity);

  /// Whether anything is shared; otherwise there are no parts.
  [[nodiscard]] bool shared() const { return !tasks_.empty(); }
  /// Calls work(part, task) for every part, those of a task one after the other in one thread, tasks in parallel.
  void each_part(const Context& context, FunctionRef<void(const InputPart&, std::size_t)> work) const;

  /// Where the part's product goes: the first part's of a view to `product` (m × h), others' to a place of their own.
  PanelMap<S> target(const InputPart& part, PanelMap<S> product);
  /// Adds the others' to `product`, in the order of the columns.
  void add_parts(Index view, PanelMap<S> product);

 private:
  struct Sum {
    InputPart part;
    BatchPanels<S> product;  // (m × h)
  };
  std::vector<std::vector<InputPart>> tasks_;
  Workspace memory_;
  std::vector<Sum> sums_;  // of parts that are not the first of their view
};

}  // namespace tocca
