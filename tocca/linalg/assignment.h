/// The cheapest one-to-one assignment of rows to columns.
#pragma once

#include <vector>

#include "tocca/core/matrix.h"

namespace tocca {

/// Given what it costs to give column j to row i, cost (rows × columns), returns the column of each row, with the
/// smallest sum of costs over all assignments of min(rows, columns) pairs in which no column is given twice. −1: the
/// row is left out, which happens to rows − columns of them. Costs may be negative. Among assignments of the same sum
/// the one returned is always the same one.
///
/// Shortest augmenting paths, one row after the other: H. Kuhn, The Hungarian method for the assignment problem, Naval
/// Research Logistics Quarterly 2, 1955; R. Jonker, A. Volgenant, A shortest augmenting path algorithm for dense and
/// sparse linear assignment problems, Computing 38, 1987. O(min(rows, columns)² · max(rows, columns)).
///
/// Departure from the second paper: no initialisation by column reduction; every row starts a search.
/// Throws InputError naming a cost that is not finite.
std::vector<Index> minimum_cost_assignment(ConstMatrixRef<double> cost);

}  // namespace tocca
