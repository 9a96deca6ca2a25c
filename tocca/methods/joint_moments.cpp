#include "tocca/methods/joint_moments.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "tocca/linalg/blas.h"
#include "tocca/linalg/covariance.h"

namespace tocca {
namespace {

/// Puts the rows of some samples, both views side by side, into a block.
using BlockReader = std::function<void(std::span<const Index> samples, MatrixRef<double> block)>;

/// Depends on the data alone, so that results do not depend on the number of threads: enough parts to keep many threads
/// busy, few enough that merging and their D × D sums, which begin as fresh memory, cost little. A power of two, so
/// that two, four or eight threads have equal shares.
Index part_count(Index samples, Index columns) {
  constexpr Index kMostParts = 32, kMostNumbers = Index{1} << 25;
  const Index least_rows = std::max(Index{2048}, 5 * columns);
  const Index affordable = kMostNumbers / (columns * columns);
  const Index count = std::clamp(std::min(samples / least_rows, affordable), Index{1}, kMostParts);
  return static_cast<Index>(std::bit_floor(static_cast<std::size_t>(count)));
}

JointMoments gather(std::span<const Index> samples, Index columns, const BlockReader& read, const Context& context) {
  const auto n = static_cast<Index>(samples.size());
  const Index count = part_count(n, columns);
  std::vector<CovarianceAccumulator> parts(static_cast<std::size_t>(count), CovarianceAccumulator(0));
  context.parallel(count, [&](Index part) {
    CovarianceAccumulator gathered(columns);
    Matrix<double> block;
    const Index end = (part + 1) * n / count;
    for (Index top = part * n / count; top < end; top += gathered.block_rows()) {
      block.resize(std::min(gathered.block_rows(), end - top), columns);
      read(samples.subspan(static_cast<std::size_t>(top), static_cast<std::size_t>(block.rows())), block);
      gathered.add_in_place(block);
    }
    parts[static_cast<std::size_t>(part)] = std::move(gathered);
  });
  // Neighbours first, then pairs of neighbours, and so on: always in the same order.
  for (Index reach = 1; reach < count; reach *= 2) {
    context.parallel((count + reach - 1) / (2 * reach), [&](Index pair) {
      const auto left = static_cast<std::size_t>(2 * reach * pair);
      parts[left].merge(parts[left + static_cast<std::size_t>(reach)]);
    });
  }
  const CovarianceAccumulator all = std::move(parts[0]);
  parts.clear();
  return {n, all.mean(), all.covariance()};
}

/// Rows of a view as they are; what lies behind them in a mapped file is given back.
void read_raw(const View& view, std::span<const Index> samples, MatrixRef<double> out) {
  std::vector<Index> rows(samples.size());
  std::transform(samples.begin(), samples.end(), rows.begin(),
                 [&](Index sample) { return view.row_of_sample[static_cast<std::size_t>(sample)]; });
  view.values.read_rows(rows, out);
  const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
  const Index reach = *most - *least + 1;
  if (reach == static_cast<Index>(rows.size())) view.values.release(*least, reach);
}

bool is_joint(const Views& views) {
  if (views.count() != 2 || views.views[0].columns() == 0 || views.views[1].columns() == 0) return false;
  for (Index i = 0; i < views.size(); ++i) {
    if (!views.complete(i)) return false;
  }
  return views.size() > views.views[0].columns() + views.views[1].columns();
}

}  // namespace

std::optional<JointMoments> joint_moments(const Views& views, const Context& context) {
  if (!is_joint(views)) return std::nullopt;
  const Index d1 = views.views[0].columns(), d2 = views.views[1].columns();
  std::vector<Index> samples(views.samples.size());
  std::iota(samples.begin(), samples.end(), 0);
  const BlockReader read = [&](std::span<const Index> chosen, MatrixRef<double> block) {
    read_raw(views.views[0], chosen, block.leftCols(d1));
    read_raw(views.views[1], chosen, block.rightCols(d2));
  };
  JointMoments joint = gather(samples, d1 + d2, read, context);
  // A value that is not finite makes its column's mean so.
  if (!joint.mean.allFinite() || !joint.covariance.allFinite()) return std::nullopt;
  return joint;
}

ColumnMoments column_moments_of(const JointMoments& joint, Index first, Index columns) {
  const auto n = static_cast<double>(joint.count);
  return {RowVector<double>::Constant(columns, n), joint.mean.segment(first, columns),
          (n - 1) * joint.covariance.diagonal().segment(first, columns).transpose()};
}

JointMoments standardize_moments(JointMoments joint, const FittedModel& model) {
  const Standardizer& one = model.views[0].standardizer;
  const Standardizer& two = model.views[1].standardizer;
  RowVector<double> shift(joint.mean.size()), scale(joint.mean.size());
  shift << one.shift, two.shift;
  scale << one.scale, two.scale;
  joint.mean = (joint.mean - shift).cwiseProduct(scale);
  joint.covariance = scale.asDiagonal() * joint.covariance * scale.asDiagonal();
  return joint;
}

JointMoments standardized_moments(const FittedModel& model, const Views& views, std::span<const Index> samples,
                                  const Context& context) {
  const Index d1 = views.views[0].columns(), d2 = views.views[1].columns();
  const BlockReader read = [&](std::span<const Index> chosen, MatrixRef<double> block) {
    model.views[0].standardizer.read<double>(views, 0, chosen, 0, block.leftCols(d1));
    model.views[1].standardizer.read<double>(views, 1, chosen, 0, block.rightCols(d2));
  };
  return gather(samples, d1 + d2, read, context);
}

CanonicalPair canonical_pair_of(const JointMoments& standardized, const CcaSolution& solution) {
  const Matrix<double>&w1 = solution.weights1, &w2 = solution.weights2, &s = standardized.covariance;
  const Index d1 = w1.rows(), d2 = w2.rows(), k = w1.cols();
  const auto of_projections = [&](const Matrix<double>& a, ConstMatrixRef<double> block, const Matrix<double>& b) {
    Matrix<double> right(block.rows(), k), result(k, k);
    multiply<double>(block, b, right);
    multiply_at_b<double>(a, right, result);
    return result;
  };
  const CcaSolution fitted = cca_from_covariances(of_projections(w1, s.topLeftCorner(d1, d1), w1),
                                                  of_projections(w2, s.bottomRightCorner(d2, d2), w2),
                                                  of_projections(w1, s.topRightCorner(d1, d2), w2));
  // Correlations of actual samples; rounding must not carry them above one.
  return {0,
          1,
          standardized.mean.head(d1) * w1,
          standardized.mean.tail(d2) * w2,
          fitted.weights1,
          fitted.weights2,
          fitted.correlations.cwiseMin(1)};
}

}  // namespace tocca
