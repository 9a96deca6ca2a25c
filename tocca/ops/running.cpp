#include "tocca/ops/running.h"

#include <cmath>

#include "tocca/linalg/blas.h"

namespace tocca {

RunningWeights running_weights(double momentum, double batch_number) {
  RunningWeights w;
  w.keep = momentum;
  w.add = 1 - momentum;
  w.correction = 1 / (1 - std::pow(momentum, batch_number));
  w.share = w.add * w.correction;
  return w;
}

template <class S>
void decompose_running_covariance(ConstMatrixRef<S> batch, const RunningWeights& w, double ridge,
                                  MatrixRef<double> mean, MatrixRef<double> covariance, RowRef<double> centre,
                                  KeptMatrix<double>& centred, SymmetricEigen& eigen, Workspace& work) {
  MatrixMap<double> rows = centred.resize(batch.rows(), batch.cols());
  rows = batch.template cast<double>();
  mean = w.keep * mean + w.add * rows.colwise().mean();
  centre = w.correction * mean.row(0);
  rows.rowwise() -= centre;
  multiply_at_a<double>(rows, covariance, w.add / static_cast<double>(batch.rows() - 1), w.keep);
  eigen.vectors = w.correction * covariance;
  eigen.vectors.diagonal().array() += ridge;
  symmetric_eigen_in_place(eigen, work);
}

void subtract_share_of_mean(double share, MatrixRef<double> d, Workspace& work) {
  const Workspace::Frame frame(work);
  MatrixMap<double> through_mean = work.matrix<double>(1, d.cols());
  through_mean = share * d.colwise().mean();
  d.rowwise() -= through_mean.row(0);
}

#define TOCCA_INSTANTIATE(S)                                                                                         \
  template void decompose_running_covariance<S>(ConstMatrixRef<S>, const RunningWeights&, double, MatrixRef<double>, \
                                                MatrixRef<double>, RowRef<double>, KeptMatrix<double>&,              \
                                                SymmetricEigen&, Workspace&);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
