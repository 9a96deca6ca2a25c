#include "tocca/ops/decorrelation.h"

#include "tocca/linalg/blas.h"

namespace tocca {

template <class S>
double soft_decorrelation(ConstMatrixRef<S> a, double momentum, double weight, MatrixRef<double> cross,
                          MatrixRef<double> normaliser, DecorrelationScratch<S>& scratch, MatrixRef<S> d) {
  MatrixMap<double> batch = scratch.batch.resize(a.rows(), a.cols());
  batch = a.template cast<double>();
  const auto freedom = static_cast<double>(a.rows() - 1);
  normaliser(0, 0) = momentum * normaliser(0, 0) + 1;
  multiply_at_a<double>(batch, cross, 1 / freedom, momentum);
  const double loss = (cross.cwiseAbs().sum() - cross.diagonal().cwiseAbs().sum()) / normaliser(0, 0);
  // The gradient's factor goes into the signs, so that the product has none.
  const double factor = weight * 2 / (freedom * normaliser(0, 0));
  scratch.signs = (factor * cross.cwiseSign()).template cast<S>();
  scratch.signs.diagonal().setZero();
  multiply<S>(a, scratch.signs, d, 1, 1);
  return loss;
}

#define TOCCA_INSTANTIATE(S)                                                                                     \
  template double soft_decorrelation<S>(ConstMatrixRef<S>, double, double, MatrixRef<double>, MatrixRef<double>, \
                                        DecorrelationScratch<S>&, MatrixRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
