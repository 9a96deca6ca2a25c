#include "tocca/ops/columns.h"

#include "tocca/ops/column_kernels.h"

namespace tocca {

template <class S>
void column_sums(ConstMatrixRef<S> x, RowRef<S> sums) {
  detail::column_sums(static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols()), rows_of<S>(x),
                      sums.data());
}

template void column_sums<float>(ConstMatrixRef<float>, RowRef<float>);
template void column_sums<double>(ConstMatrixRef<double>, RowRef<double>);

}  // namespace tocca
