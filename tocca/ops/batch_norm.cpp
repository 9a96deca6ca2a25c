#include "tocca/ops/batch_norm.h"

#include "tocca/ops/columns.h"

namespace tocca {
namespace {

// Column sums of dout and of dout ∘ x̂: the gradients of shift and scale.
template <class S>
void parameter_gradients(ConstMatrixRef<S> y, const BatchNormCache<S>& cache, ConstMatrixRef<S> dout,
                         RowVector<S>& dscale, RowVector<S>& dshift) {
  dscale.setZero(y.cols());
  dshift.setZero(y.cols());
  RowVector<S> scale_block(y.cols());
  RowVector<S> shift_block(y.cols());
  for (Index first = 0; first < y.rows(); first += kRowsPerBlock) {
    scale_block.setZero();
    shift_block.setZero();
    for (Index i = first; i < std::min(y.rows(), first + kRowsPerBlock); ++i) {
      scale_block.array() += dout.row(i).array() * (y.row(i) - cache.mean).array();
      shift_block += dout.row(i);
    }
    dscale += scale_block;
    dshift += shift_block;
  }
  dscale.array() *= cache.inverse_deviation.array();
}

template <class S, bool kRelu>
void backward(ConstMatrixRef<S> y, ConstRowRef<S> scale, const BatchNormCache<S>& cache, MatrixRef<S> dout,
              RowRef<S> dscale_out, RowRef<S> dshift_out) {
  RowVector<S> dscale;
  RowVector<S> dshift;
  parameter_gradients<S>(y, cache, dout, dscale, dshift);
  if (dscale_out.size() > 0) dscale_out = dscale;
  if (dshift_out.size() > 0) dshift_out = dshift;
  // dy = s ∘ (dout − mean(dout) − x̂ ∘ mean(dout ∘ x̂)), s = scale/σ, with x̂ = (y − μ)/σ written out:
  // dy = s ∘ dout − p − q ∘ y.
  const S share = S(1) / static_cast<S>(y.rows());
  RowVector<S> s = cache.inverse_deviation;
  if (scale.size() > 0) s.array() *= scale.array();
  const RowVector<S> q = s.array() * cache.inverse_deviation.array() * dscale.array() * share;
  const RowVector<S> p = s.array() * dshift.array() * share - q.array() * cache.mean.array();
  for (Index i = 0; i < y.rows(); ++i) {
    auto d = dout.row(i).array();
    d = s.array() * d - p.array() - q.array() * y.row(i).array();
    if constexpr (kRelu) d = (y.row(i).array() > S(0)).select(d, S(0));
  }
}

}  // namespace

template <class S>
void relu_forward(MatrixRef<S> y) {
  for (Index i = 0; i < y.rows(); ++i) y.row(i) = y.row(i).cwiseMax(S(0));
}

template <class S>
void batch_norm_forward(ConstMatrixRef<S> y, ConstRowRef<S> scale, ConstRowRef<S> shift, BatchNormCache<S>& cache,
                        MatrixRef<S> out) {
  cache.mean.resize(y.cols());
  cache.variance.resize(y.cols());
  column_moments<S>(y, cache.mean, cache.variance);
  cache.inverse_deviation = (cache.variance.array() + static_cast<S>(kBatchNormEpsilon)).rsqrt();
  RowVector<S> factor = cache.inverse_deviation;
  if (scale.size() > 0) factor.array() *= scale.array();
  for (Index i = 0; i < y.rows(); ++i) {
    out.row(i) = (y.row(i) - cache.mean).array() * factor.array();
    if (shift.size() > 0) out.row(i) += shift;
  }
}

template <class S>
void batch_norm_backward(ConstMatrixRef<S> y, ConstRowRef<S> scale, const BatchNormCache<S>& cache, MatrixRef<S> dout,
                         RowRef<S> dscale, RowRef<S> dshift) {
  backward<S, false>(y, scale, cache, dout, dscale, dshift);
}

template <class S>
void relu_batch_norm_backward(ConstMatrixRef<S> y, ConstRowRef<S> scale, const BatchNormCache<S>& cache,
                              MatrixRef<S> dout, RowRef<S> dscale, RowRef<S> dshift) {
  backward<S, true>(y, scale, cache, dout, dscale, dshift);
}

template <class S>
void batch_norm_update(const BatchNormCache<S>& cache, Index rows, double keep, double add, MatrixRef<double> mean,
                       MatrixRef<double> variance) {
  const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
  mean = keep * mean + add * cache.mean.template cast<double>();
  variance = keep * variance + add * unbiased * cache.variance.template cast<double>();
}

template <class S>
void batch_norm_infer(ConstMatrixRef<S> y, ConstRowRef<S> scale, ConstRowRef<S> shift, ConstMatrixRef<double> mean,
                      ConstMatrixRef<double> variance, MatrixRef<S> out) {
  RowVector<double> factor = (variance.row(0).array() + kBatchNormEpsilon).rsqrt();
  if (scale.size() > 0) factor.array() *= scale.template cast<double>().array();
  RowVector<double> offset = -(mean.row(0).array() * factor.array());
  if (shift.size() > 0) offset += shift.template cast<double>();
  const RowVector<S> f = factor.template cast<S>();
  const RowVector<S> o = offset.template cast<S>();
  for (Index i = 0; i < y.rows(); ++i) out.row(i) = y.row(i).array() * f.array() + o.array();
}

#define TOCCA_INSTANTIATE(S)                                                                                           \
  template void relu_forward<S>(MatrixRef<S>);                                                                         \
  template void batch_norm_forward<S>(ConstMatrixRef<S>, ConstRowRef<S>, ConstRowRef<S>, BatchNormCache<S>&,           \
                                      MatrixRef<S>);                                                                   \
  template void batch_norm_backward<S>(ConstMatrixRef<S>, ConstRowRef<S>, const BatchNormCache<S>&, MatrixRef<S>,      \
                                       RowRef<S>, RowRef<S>);                                                          \
  template void relu_batch_norm_backward<S>(ConstMatrixRef<S>, ConstRowRef<S>, const BatchNormCache<S>&, MatrixRef<S>, \
                                            RowRef<S>, RowRef<S>);                                                     \
  template void batch_norm_update<S>(const BatchNormCache<S>&, Index, double, double, MatrixRef<double>,               \
                                     MatrixRef<double>);                                                               \
  template void batch_norm_infer<S>(ConstMatrixRef<S>, ConstRowRef<S>, ConstRowRef<S>, ConstMatrixRef<double>,         \
                                    ConstMatrixRef<double>, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
