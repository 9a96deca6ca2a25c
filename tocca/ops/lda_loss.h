/// The objective of DeepLDA: the separation of the classes, as linear discriminant analysis measures it.
///
/// M. Dorfer, R. Kelz, G. Widmer, Deep linear discriminant analysis, ICLR 2016, equations 7 to 11.
#pragma once

#include <span>

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"
#include "tocca/linalg/symmetric.h"

namespace tocca {

struct LdaLossOptions {
  double ridge = 1e-3;     ///< r, added to the diagonal of S_w, > 0
  double threshold = 1.0;  ///< only eigenvalues up to the smallest plus this are maximised, ≥ 0
};

/// Place for what lies between, kept by callers that come back with every batch.
struct LdaLossScratch {
  SymmetricEigen within, whitened;
  Matrix<double> root;
  Workspace work;
};

/// Returns −mean{e : e ≤ min e + threshold} over the C − 1 largest (at most d) solutions e of S_b v = e (S_w + rI) v,
/// and adds weight · its gradient with respect to h (m × d) to d of the same shape. labels (m): class numbers, −1: the
/// row is left out. C is the number of classes in the batch; S_t is the covariance of its labelled rows, S_w the mean
/// over classes of their covariances, S_b = S_t − S_w. Which eigenvalues count is taken as given in the gradient:
///     ∂e/∂S_t = v vᵀ, ∂e/∂S_w = −(1 + e) v vᵀ, for vᵀ (S_w + rI) v = 1.
///
/// A class with a single row has no covariance: it counts in S_t and in C, not in S_w. With fewer than two classes, or
/// no class with two rows, the loss is 0 and adds no gradient.
template <class S>
double lda_loss(ConstMatrixRef<S> h, std::span<const int> labels, const LdaLossOptions& options, double weight,
                MatrixRef<S> d, LdaLossScratch& scratch);

}  // namespace tocca
