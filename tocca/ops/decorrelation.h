/// The soft decorrelation loss of TOCCA-SD.
///
/// X. Chang, T. Xiang, T. Hospedales, Scalable and effective deep CCA via soft decorrelation, CVPR 2018.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"

namespace tocca {

/// Place for what lies between, kept by callers that come back with every batch.
template <class S>
struct DecorrelationScratch {
  KeptMatrix<double> batch;
  Matrix<S> signs;
};

/// C ← αC + AᵀA/(m − 1), c ← αc + 1, Σ̂ = C/c; returns Σ_{i≠j} |Σ̂_ij| and adds weight · its gradient with respect to a
/// (through this batch's part of C only) to d. a, d (m × k), m ≥ 2; C = `cross` (k × k), c = `normaliser` (1 × 1).
template <class S>
double soft_decorrelation(ConstMatrixRef<S> a, double momentum, double weight, MatrixRef<double> cross,
                          MatrixRef<double> normaliser, DecorrelationScratch<S>& scratch, MatrixRef<S> d);

}  // namespace tocca
