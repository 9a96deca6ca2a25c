/// How well a query in one view finds its answer in another, by the cosine of their embeddings.
///
/// Row i of queries (n × k) and row i of answers (n × k) are one sample. The rank of an answer to query i is 1 + the
/// number of answers with a larger cosine to the query than the right one, answer i, plus half the number of wrong
/// answers with an equal one: the mean rank over the orders that ties can be put in. So embeddings that have collapsed
/// to one point are at chance, and a right answer that ties with a wrong one has rank 1.5 and is not a hit at 1.
/// Cosines within 1e-12 are equal, which is above rounding. A row shorter than 1e-12 has no direction, and its cosines
/// are 0.
///
/// O(n² k) by blocks; no n × n matrix is held. Throws InputError for shapes that differ and entries that are not
/// finite.
#pragma once

#include "tocca/core/matrix.h"

namespace tocca {

/// Ranks of the right answers (n), in [1, n]: multiples of ½.
Vector<double> retrieval_ranks(ConstMatrixRef<double> queries, ConstMatrixRef<double> answers);

/// All NaN without samples.
struct RetrievalScores {
  double recall1 = 0;   ///< share of queries whose right answer has a rank of at most 1; chance is 1/n
  double recall5 = 0;   ///< at most 5
  double recall10 = 0;  ///< at most 10
  double median_rank = 0;
  double mean_reciprocal_rank = 0;  ///< in (0, 1]
};

/// M. Hodosh, P. Young, J. Hockenmaier, Framing image description as a ranking task, J. Artificial Intelligence
/// Research 47, 2013 (recall, median rank); E. Voorhees, The TREC-8 question answering track report, 1999 (reciprocal
/// rank).
RetrievalScores retrieval_scores(ConstMatrixRef<double> queries, ConstMatrixRef<double> answers);

}  // namespace tocca
