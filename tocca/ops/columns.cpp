#include "tocca/ops/columns.h"

#include "tocca/ops/column_kernels.h"

namespace tocca {

template <class S>
void column_sums(ConstMatrixRef<S> x, RowRef<S> sums, Matrix<S>& scratch) {
  scratch.resize(2, x.cols());
  detail::column_sums(static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols()), rows_of<S>(x),
                      sums.data(), scratch.data());
}

template void column_sums<float>(ConstMatrixRef<float>, RowRef<float>, Matrix<float>&);
template void column_sums<double>(ConstMatrixRef<double>, RowRef<double>, Matrix<double>&);

}  // namespace tocca
