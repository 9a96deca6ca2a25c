#include "tocca/ops/softmax.h"

#include <fmt/format.h>

#include <cmath>

#include "tocca/core/error.h"

namespace tocca {
namespace {

double weight_of(int label, const SoftmaxOptions& options) {
  if (label < 0) return 0;
  return options.class_weights.size() > 0 ? options.class_weights(label) : 1;
}

/// −Σ_c q_c log softmax(row)_c; row ← share · its gradient, softmax(row) − q.
template <class S>
double row_loss(int label, double smoothing, S share, Eigen::Ref<RowVector<S>> row) {
  const S top = row.maxCoeff();
  const auto picked = static_cast<double>(row(label) - top);
  const double expected =
      smoothing > 0 ? (1 - smoothing) * picked + smoothing * static_cast<double>((row.array() - top).mean()) : picked;
  row = (row.array() - top).exp();
  const S sum = row.sum();
  row *= share / sum;
  row(label) -= static_cast<S>(1 - smoothing) * share;
  if (smoothing > 0) row.array() -= static_cast<S>(smoothing / static_cast<double>(row.size())) * share;
  return std::log(static_cast<double>(sum)) - expected;
}

}  // namespace

void SoftmaxOptions::validate(Index classes) const {
  if (class_weights.size() > 0 && class_weights.size() != classes)
    throw InputError("softmax", fmt::format("class_weights: got {} of them, need one for each of {} classes, or none; "
                                            "leave it empty for equal weights",
                                            class_weights.size(), classes));
  if (class_weights.size() > 0 && !(class_weights.minCoeff() >= 0 && class_weights.allFinite()))
    throw InputError("softmax", fmt::format("class_weights: got {}, need finite numbers >= 0; use 1 for no effect",
                                            class_weights.minCoeff()));
  if (!(label_smoothing >= 0 && label_smoothing < 1))
    throw InputError("softmax", fmt::format("label_smoothing: got {}, need 0 <= label_smoothing < 1; use 0 for none",
                                            label_smoothing));
}

template <class S>
double softmax_cross_entropy(std::span<const int> labels, MatrixRef<S> logits) {
  return softmax_cross_entropy<S>(labels, {}, logits);
}

template <class S>
double softmax_cross_entropy(std::span<const int> labels, const SoftmaxOptions& options, MatrixRef<S> logits) {
  options.validate(logits.cols());
  double total = 0, loss = 0;
  for (const int label : labels) total += weight_of(label, options);
  for (Index i = 0; i < logits.rows(); ++i) {
    const int label = labels[static_cast<std::size_t>(i)];
    const double weight = weight_of(label, options);
    if (weight > 0)
      loss += weight * row_loss<S>(label, options.label_smoothing, static_cast<S>(weight / total), logits.row(i));
    else
      logits.row(i).setZero();
  }
  return total > 0 ? loss / total : 0;
}

template <class S>
void log_softmax(MatrixRef<S> logits) {
  for (Index i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i);
    row.array() -= row.maxCoeff();
    row.array() -= std::log(row.array().exp().sum());
  }
}

#define TOCCA_INSTANTIATE(S)                                                                           \
  template double softmax_cross_entropy<S>(std::span<const int>, MatrixRef<S>);                        \
  template double softmax_cross_entropy<S>(std::span<const int>, const SoftmaxOptions&, MatrixRef<S>); \
  template void log_softmax<S>(MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
