#include "tocca/ops/batch_norm.h"

#include "tocca/ops/column_kernels.h"

namespace tocca {
namespace {

std::size_t size(Index n) { return static_cast<std::size_t>(n); }

// Columns first ... first + count − 1 of a layer, which lie in one panel: rows of the batch in them, and what is kept
// for each.
template <class S>
struct Piece {
  BatchNormCache<S>& cache;
  Index first, count;

  // Vectors of factors.
  enum : Index { kFirst, kSecond, kThird, kRows };

  [[nodiscard]] std::size_t columns() const { return size(count); }
  template <class T>
  [[nodiscard]] Rows<T> of(const PanelMap<T>& m) const {
    return {m.at(0, first), size(m.stride())};
  }
  auto of(RowVector<S>& v) const { return v.segment(first, count); }
  auto of(ConstRowRef<S> v) const { return v.segment(first, count); }
  [[nodiscard]] S* mean() const { return cache.mean.data() + first; }
  [[nodiscard]] S* variance() const { return cache.variance.data() + first; }
  auto factors(Index row) const { return cache.scratch.row(row).segment(first, count); }
};

// Calls work(piece) for `columns` columns from `begin` on, as many at a time as lie in one panel of y and of `other`.
template <class S, class F>
void over_panels(PanelMap<const S> y, Index begin, Index columns, PanelMap<const S> other, BatchNormCache<S>& cache,
                 F work) {
  y.each_panel(begin, begin + columns, other, [&](Index first, Index count) { work(Piece<S>{cache, first, count}); });
}

// Once the moments are known.
template <class S>
void normalize(const Piece<S>& piece, PanelMap<const S> y, ConstRowRef<S> scale, ConstRowRef<S> shift,
               PanelMap<S> out) {
  auto inverse_deviation = piece.of(piece.cache.inverse_deviation);
  auto factor = piece.factors(Piece<S>::kFirst);
  auto offset = piece.factors(Piece<S>::kSecond);
  inverse_deviation = (piece.of(piece.cache.variance).array() + static_cast<S>(kBatchNormEpsilon)).rsqrt();
  factor = inverse_deviation;
  if (scale.size() > 0) factor.array() *= piece.of(scale).array();
  offset.setZero();
  if (shift.size() > 0) offset = piece.of(shift);
  detail::normalize_columns(size(y.rows()), piece.columns(), piece.of(y), piece.mean(), factor.data(), offset.data(),
                            piece.of(out));
}

// The gradients of scale and shift, and what the one of y is made of:
// dy = s ∘ (dout − mean(dout) − x̂ ∘ mean(dout ∘ x̂)), s = scale/σ, with x̂ = (y − μ)/σ written out:
// dy = s ∘ dout − p − q ∘ y.
template <class S>
struct Factors {
  const S *s, *p, *q;
};

template <class S>
Factors<S> backward_factors(const Piece<S>& piece, PanelMap<const S> y, ConstRowRef<S> scale, PanelMap<const S> dout,
                            RowRef<S>& dscale_out, RowRef<S>& dshift_out) {
  auto s = piece.factors(Piece<S>::kThird);
  auto dshift = piece.factors(Piece<S>::kFirst);
  auto dscale = piece.factors(Piece<S>::kSecond);
  const auto inverse_deviation = piece.of(piece.cache.inverse_deviation).array();
  detail::column_products(size(y.rows()), piece.columns(), piece.of(y), piece.mean(), piece.of(dout), dshift.data(),
                          dscale.data());
  dscale.array() *= inverse_deviation;
  if (dscale_out.size() > 0) dscale_out.segment(piece.first, piece.count) = dscale;
  if (dshift_out.size() > 0) dshift_out.segment(piece.first, piece.count) = dshift;
  const S share = S(1) / static_cast<S>(y.rows());
  s = inverse_deviation.matrix();
  if (scale.size() > 0) s.array() *= piece.of(scale).array();
  // In the place of what they are made of.
  auto q = dscale.array();
  auto p = dshift.array();
  q = s.array() * inverse_deviation * q * share;
  p = s.array() * p * share - q * piece.of(piece.cache.mean).array();
  return {s.data(), dshift.data(), dscale.data()};
}

}  // namespace

template <class S>
void relu_forward(MatrixRef<S> y) {
  for (Index i = 0; i < y.rows(); ++i) y.row(i) = y.row(i).cwiseMax(S(0));
}

template <class S>
void BatchNormCache<S>::resize(Index d) {
  scratch.resize(Piece<S>::kRows, d);
  mean.resize(d);
  variance.resize(d);
  inverse_deviation.resize(d);
}

template <class S>
void batch_norm_forward(PanelMap<const S> y, ConstRowRef<S> scale, ConstRowRef<S> shift, BatchNormCache<S>& cache,
                        PanelMap<S> out, const Pieces& pieces) {
  cache.resize(y.cols());
  pieces.over_columns(y.cols(), [&](Index first, Index count) {
    over_panels<S>(y, first, count, out, cache, [&](const Piece<S>& piece) {
      detail::column_moments(size(y.rows()), piece.columns(), piece.of(y), piece.mean(), piece.variance());
      normalize<S>(piece, y, scale, shift, out);
    });
  });
}

template <class S>
void relu_batch_norm_forward(PanelMap<S> y, Index first, Index count, ConstRowRef<S> bias, ConstRowRef<S> scale,
                             ConstRowRef<S> shift, BatchNormCache<S>& cache, PanelMap<S> out) {
  over_panels<S>(y, first, count, out, cache, [&](const Piece<S>& piece) {
    detail::relu_moments(size(y.rows()), piece.columns(), piece.of(y), bias.data() + piece.first, piece.mean(),
                         piece.variance());
    normalize<S>(piece, y, scale, shift, out);
  });
}

template <class S>
void batch_norm_backward(PanelMap<const S> y, ConstRowRef<S> scale, BatchNormCache<S>& cache, PanelMap<S> dout,
                         RowRef<S> dscale, RowRef<S> dshift, const Pieces& pieces) {
  pieces.over_columns(y.cols(), [&](Index first, Index count) {
    over_panels<S>(y, first, count, dout, cache, [&](const Piece<S>& piece) {
      const Factors<S> f = backward_factors<S>(piece, y, scale, dout, dscale, dshift);
      detail::normalize_back(size(y.rows()), piece.columns(), piece.of(y), f.s, f.p, f.q, piece.of(dout));
    });
  });
}

template <class S>
void relu_batch_norm_backward(PanelMap<const S> y, Index first, Index count, ConstRowRef<S> scale,
                              BatchNormCache<S>& cache, PanelMap<S> dout, RowRef<S> dscale, RowRef<S> dshift,
                              RowRef<S> dbias) {
  over_panels<S>(y, first, count, dout, cache, [&](const Piece<S>& piece) {
    const Factors<S> f = backward_factors<S>(piece, y, scale, dout, dscale, dshift);
    detail::relu_normalize_back(size(y.rows()), piece.columns(), piece.of(y), f.s, f.p, f.q, piece.of(dout),
                                dbias.data() + piece.first);
  });
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

#define TOCCA_INSTANTIATE(S)                                                                                          \
  template void relu_forward<S>(MatrixRef<S>);                                                                        \
  template struct BatchNormCache<S>;                                                                                  \
  template void batch_norm_forward<S>(PanelMap<const S>, ConstRowRef<S>, ConstRowRef<S>, BatchNormCache<S>&,          \
                                      PanelMap<S>, const Pieces&);                                                    \
  template void relu_batch_norm_forward<S>(PanelMap<S>, Index, Index, ConstRowRef<S>, ConstRowRef<S>, ConstRowRef<S>, \
                                           BatchNormCache<S>&, PanelMap<S>);                                          \
  template void batch_norm_backward<S>(PanelMap<const S>, ConstRowRef<S>, BatchNormCache<S>&, PanelMap<S>, RowRef<S>, \
                                       RowRef<S>, const Pieces&);                                                     \
  template void relu_batch_norm_backward<S>(PanelMap<const S>, Index, Index, ConstRowRef<S>, BatchNormCache<S>&,      \
                                            PanelMap<S>, RowRef<S>, RowRef<S>, RowRef<S>);                            \
  template void batch_norm_update<S>(const BatchNormCache<S>&, Index, double, double, MatrixRef<double>,              \
                                     MatrixRef<double>);                                                              \
  template void batch_norm_infer<S>(ConstMatrixRef<S>, ConstRowRef<S>, ConstRowRef<S>, ConstMatrixRef<double>,        \
                                    ConstMatrixRef<double>, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
