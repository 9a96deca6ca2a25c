/// The pairwise ranking loss of cross-view retrieval.
///
/// M. Dorfer, J. Schlüter, A. Vall, F. Korzeniowski, G. Widmer, End-to-end cross-modality retrieval with CCA
/// projections and pairwise ranking loss, Int. J. Multimedia Information Retrieval 7, 2018, equation 8; R. Kiros, R.
/// Salakhutdinov, R. Zemel, Unifying visual-semantic embeddings with multimodal neural language models, 2014.
#pragma once

#include "tocca/core/matrix.h"
#include "tocca/core/workspace.h"

namespace tocca {

/// Row i of z1 (m × k) and row i of z2 (m × k) are one sample. With s_ij the cosine of row i of z1 and row j of z2,
/// returns the mean over the 2 m (m − 1) pairs of a query and a wrong answer of
///     max(0, margin − s_ii + s_ij)  (z1 asks)  and  max(0, margin − s_ii + s_ji)  (z2 asks),  j ≠ i,
/// and adds weight · its gradient to d1 and d2 (m × k). A row shorter than 1e-12 has no direction: its cosines are 0
/// and it gets no gradient. With fewer than two rows the loss is 0. margin ≥ 0; 0.5 to 0.7 in the paper.
///
/// Departure from the paper: it takes one direction, and the sum instead of the mean.
template <class S>
double pairwise_ranking_loss(ConstMatrixRef<S> z1, ConstMatrixRef<S> z2, double margin, double weight, MatrixRef<S> d1,
                             MatrixRef<S> d2, Workspace& work);

}  // namespace tocca
