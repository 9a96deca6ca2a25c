#include "tocca/ops/columns.h"

#include <algorithm>

namespace tocca {
namespace {

// Calls add(i, sums) for every row i, restarting the running sum at each block.
template <class S, class AddRow>
void sum_in_blocks(Index rows, RowRef<S> sums, AddRow add) {
  sums.setZero();
  if (rows <= kRowsPerBlock) {
    for (Index i = 0; i < rows; ++i) add(i, sums);
    return;
  }
  RowVector<S> block(sums.size());
  for (Index first = 0; first < rows; first += kRowsPerBlock) {
    block.setZero();
    const Index end = std::min(rows, first + kRowsPerBlock);
    for (Index i = first; i < end; ++i) add(i, block);
    sums += block;
  }
}

}  // namespace

template <class S>
void column_sums(ConstMatrixRef<S> x, RowRef<S> sums) {
  sum_in_blocks<S>(x.rows(), sums, [&](Index i, auto& total) { total += x.row(i); });
}

template <class S>
void column_moments(ConstMatrixRef<S> x, RowRef<S> mean, RowRef<S> variance) {
  const S share = S(1) / static_cast<S>(x.rows());
  column_sums<S>(x, mean);
  mean *= share;
  sum_in_blocks<S>(x.rows(), variance,
                   [&](Index i, auto& total) { total.array() += (x.row(i) - mean).array().square(); });
  variance *= share;
}

#define TOCCA_INSTANTIATE(S)                                  \
  template void column_sums<S>(ConstMatrixRef<S>, RowRef<S>); \
  template void column_moments<S>(ConstMatrixRef<S>, RowRef<S>, RowRef<S>);
TOCCA_INSTANTIATE(float)
TOCCA_INSTANTIATE(double)
#undef TOCCA_INSTANTIATE

}  // namespace tocca
