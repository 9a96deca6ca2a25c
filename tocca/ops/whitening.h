/// ZCA whitening with running statistics, the decorrelation of TOCCA-W.
///
/// The seed paper's Algorithm 1; L. Huang et al., Decorrelated batch normalization, CVPR 2018. The gradient uses the
/// divided difference of λ^{-1/2} instead of 1/(λᵢ − λⱼ), and is finite for equal eigenvalues.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"
#include "tocca/linalg/symmetric.h"

namespace tocca {

struct WhiteningOptions {
  double momentum = 0.99;  ///< weight α of the old statistic, 0 ≤ α < 1
  double epsilon = 1e-3;   ///< added to the diagonal of the covariance, > 0
  bool running = true;     ///< false: whiten with the batch's own mean and covariance (needs m > d)
};

/// Running mean (1 × d) and covariance (d × d) before the correction 1/(1 − αᵏ), and what inference uses: the centre
/// (1 × d) and transform U (d × d) of the last training batch. All float64, owned by the network.
struct WhiteningStatistics {
  MatrixMap<double> mean;
  MatrixMap<double> covariance;
  MatrixMap<double> centre;
  MatrixMap<double> transform;
};

/// What whitening remembers of a batch for the way back.
struct WhiteningCache {
  KeptMatrix<double> centred;  ///< Ā = A − μ (m × d)
  SymmetricEigen eigen;        ///< of Σ̂ = Σ + εI
  Matrix<double> transform;    ///< U = Σ̂^{-1/2}, for batches of many rows
  double share = 1;            ///< c: how much of the used statistic is this batch
};

/// b ← (a − μ) U for a batch a (m × d), m ≥ 2; moves the statistics on. `batch_number` k ≥ 1 counts this batch.
template <class S>
void whitening_forward(ConstMatrixRef<S> a, const WhiteningOptions& options, double batch_number,
                       WhiteningStatistics& statistics, WhiteningCache& cache, MatrixRef<S> b, Workspace& work);

/// d (m × d): in ∂L/∂B, out ∂L/∂A.
template <class S>
void whitening_backward(const WhiteningCache& cache, MatrixRef<S> d, Workspace& work);

/// b ← (a − centre) U with the statistics of the last training batch.
template <class S>
void whitening_infer(ConstMatrixRef<S> a, ConstMatrixRef<double> centre, ConstMatrixRef<double> transform,
                     MatrixRef<S> b, Workspace& work);

}  // namespace tocca
