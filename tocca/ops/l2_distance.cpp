#include "tocca/ops/l2_distance.h"

namespace tocca {

Index count_pairs(const BatchRows& row_of) {
  Index pairs = 0;
  const std::size_t samples = row_of.empty() ? 0 : row_of[0].size();
  for (std::size_t p = 0; p < samples; ++p) {
    Index present = 0;
    for (const auto& rows : row_of) present += rows[p] >= 0 ? 1 : 0;
    pairs += present * (present - 1) / 2;
  }
  return pairs;
}

template <class S>
double l2_distance(std::span<const MatrixMap<S>> z, const BatchRows& row_of, std::size_t v, Index pairs, double weight,
                   MatrixRef<S> d) {
  if (pairs == 0) return 0;
  const S factor = static_cast<S>(2 * weight / static_cast<double>(pairs));
  double sum = 0;
  for (std::size_t p = 0; p < row_of[v].size(); ++p) {
    const Index mine = row_of[v][p];
    if (mine < 0) continue;
    for (std::size_t u = 0; u < z.size(); ++u) {
      const Index theirs = row_of[u][p];
      if (u == v || theirs < 0) continue;
      const auto difference = z[v].row(mine) - z[u].row(theirs);
      d.row(mine) += factor * difference;
      if (u > v) sum += static_cast<double>(difference.squaredNorm());
    }
  }
  return sum / static_cast<double>(pairs);
}

template double l2_distance<float>(std::span<const MatrixMap<float>>, const BatchRows&, std::size_t, Index, double,
                                   MatrixRef<float>);
template double l2_distance<double>(std::span<const MatrixMap<double>>, const BatchRows&, std::size_t, Index, double,
                                    MatrixRef<double>);

}  // namespace tocca
