#include "tocca/ops/softmax.h"

#include <algorithm>
#include <cmath>

namespace tocca {

template <class S>
double softmax_cross_entropy(std::span<const int> labels, MatrixRef<S> logits) {
  const auto labelled = std::count_if(labels.begin(), labels.end(), [](int label) { return label >= 0; });
  const S share = labelled > 0 ? S(1) / static_cast<S>(labelled) : S(0);
  double loss = 0;
  for (Index i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i);
    const int label = labels[static_cast<std::size_t>(i)];
    if (label < 0) {
      row.setZero();
      continue;
    }
    const S top = row.maxCoeff();
    const S picked = row(label) - top;
    row = (row.array() - top).exp();
    const S sum = row.sum();
    loss += std::log(static_cast<double>(sum)) - static_cast<double>(picked);
    row *= share / sum;
    row(label) -= share;
  }
  return labelled > 0 ? loss / static_cast<double>(labelled) : 0;
}

template <class S>
void log_softmax(MatrixRef<S> logits) {
  for (Index i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i);
    row.array() -= row.maxCoeff();
    row.array() -= std::log(row.array().exp().sum());
  }
}

template double softmax_cross_entropy<float>(std::span<const int>, MatrixRef<float>);
template double softmax_cross_entropy<double>(std::span<const int>, MatrixRef<double>);
template void log_softmax<float>(MatrixRef<float>);
template void log_softmax<double>(MatrixRef<double>);

}  // namespace tocca
