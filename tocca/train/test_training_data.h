/// Data sets to learn from as they are, for tests of training.
#pragma once

#include "tocca/train/trainer.h"

namespace tocca::testing {

/// With rows that are read without standardisation. The data set must outlive it.
inline TrainingData unstandardized(const Dataset& data) {
  return {&data, [&data](Index view, std::span<const Index> samples, Index first, MatrixRef<float> out) {
            const View& from = data.views.views[static_cast<std::size_t>(view)];
            Matrix<double> rows(out.rows(), from.columns());
            from.values.read_rows(samples, rows);
            out = rows.middleCols(first, out.cols()).cast<float>();
          }};
}

}  // namespace tocca::testing
