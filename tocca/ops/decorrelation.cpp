#include "tocca/ops/decorrelation.h"

#include "tocca/linalg/blas.h"

namespace tocca {

template <class S>
double soft_decorrelation(ConstMatrixRef<S> a, double momentum, double weight, MatrixRef<double> cross,
                          MatrixRef<double> normaliser, MatrixRef<S> d) {
  const Matrix<double> batch = a.template cast<double>();
  const auto freedom = static_cast<double>(a.rows() - 1);
  normaliser(0, 0) = momentum * normaliser(0, 0) + 1;
  multiply_at_a<double>(batch, cross, 1 / freedom, momentum);
  const double loss = (cross.cwiseAbs().sum() - cross.diagonal().cwiseAbs().sum()) / normaliser(0, 0);
  Matrix<S> signs = cross.cwiseSign().template cast<S>();
  signs.diagonal().setZero();
  multiply<S>(a, signs, d, static_cast<S>(weight * 2 / (freedom * normaliser(0, 0))), 1);
  return loss;
}

template double soft_decorrelation<float>(ConstMatrixRef<float>, double, double, MatrixRef<double>, MatrixRef<double>,
                                          MatrixRef<float>);
template double soft_decorrelation<double>(ConstMatrixRef<double>, double, double, MatrixRef<double>, MatrixRef<double>,
                                           MatrixRef<double>);

}  // namespace tocca
