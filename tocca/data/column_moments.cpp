#include "tocca/data/column_moments.h"

#include <algorithm>
#include <vector>

namespace tocca {
namespace {

constexpr std::size_t kChunkRows = 1024;
/// Chunks computed before they are merged: enough to keep threads busy, few enough for wide tables.
constexpr Index kChunksAtOnce = 32;

/// Calls f(column, value) for all values; within a column always in the order of `rows`.
template <class F>
void for_each_value(const Table& table, std::span<const Index> rows, F f) {
  table.visit([&](const auto* first, Index row_stride, Index column_stride) {
    const Index columns = table.columns();
    if (column_stride == 1) {
      for (const Index row : rows) {
        const auto* in = first + row * row_stride;
        for (Index j = 0; j < columns; ++j) f(j, static_cast<double>(in[j]));
      }
    } else {
      for (Index j = 0; j < columns; ++j) {
        for (const Index row : rows) f(j, static_cast<double>(first[row * row_stride + j * column_stride]));
      }
    }
  });
}

ColumnMoments chunk_moments(const Table& table, std::span<const Index> rows) {
  const Index d = table.columns();
  ColumnMoments moments{RowVector<double>::Zero(d), RowVector<double>::Zero(d), RowVector<double>::Zero(d)};
  double* const count = moments.count.data();
  double* const mean = moments.mean.data();
  double* const squares = moments.squares.data();
  for_each_value(table, rows, [=](Index j, double x) {
    const bool there = x == x;
    count[j] += there ? 1.0 : 0.0;
    mean[j] += there ? x : 0.0;
  });
  moments.mean.array() /= moments.count.array().max(1);

  // What rounding of the mean leaves over is taken off again (the corrected two-pass algorithm).
  RowVector<double> left_over = RowVector<double>::Zero(d);
  double* const rest = left_over.data();
  for_each_value(table, rows, [=](Index j, double x) {
    const double deviation = x == x ? x - mean[j] : 0.0;
    squares[j] += deviation * deviation;
    rest[j] += deviation;
  });
  const auto n = moments.count.array().max(1);
  moments.mean.array() += left_over.array() / n;
  moments.squares.array() -= left_over.array().square() / n;
  // Rounding can leave a little less than nothing; a NaN stays.
  moments.squares = (moments.squares.array() < 0).select(0.0, moments.squares);
  return moments;
}

void merge(ColumnMoments& all, const ColumnMoments& more) {
  const RowVector<double> total = all.count + more.count;
  const RowVector<double> share = more.count.array() / total.array().max(1);
  const RowVector<double> difference = more.mean - all.mean;
  all.mean.array() += difference.array() * share.array();
  all.squares.array() += more.squares.array() + difference.array().square() * all.count.array() * share.array();
  all.count = total;
}

}  // namespace

ColumnMoments column_moments(const Table& table, std::span<const Index> rows, const Context& context) {
  const Index d = table.columns();
  ColumnMoments all{RowVector<double>::Zero(d), RowVector<double>::Zero(d), RowVector<double>::Zero(d)};
  std::vector<ColumnMoments> chunks(kChunksAtOnce);
  const auto chunk_count = static_cast<Index>((rows.size() + kChunkRows - 1) / kChunkRows);
  for (Index first = 0; first < chunk_count; first += kChunksAtOnce) {
    const Index count = std::min(kChunksAtOnce, chunk_count - first);
    context.parallel(count, [&](Index c) {
      const std::size_t begin = static_cast<std::size_t>(first + c) * kChunkRows;
      const std::size_t size = std::min(kChunkRows, rows.size() - begin);
      chunks[static_cast<std::size_t>(c)] = chunk_moments(table, rows.subspan(begin, size));
    });
    for (Index c = 0; c < count; ++c) merge(all, chunks[static_cast<std::size_t>(c)]);
  }
  return all;
}

}  // namespace tocca
